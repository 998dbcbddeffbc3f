#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "tree/node_queue.h"

using namespace hardmargin;

namespace {

struct Numbered {
    double bound;
    std::uint64_t number;

    std::size_t size_in_memory() const { return 100; }
};

}  // namespace

TEST(the_best_of_a_queue_has_the_smallest_bound_and_is_the_newest_of_equals) {
    NodeQueue<Numbered> queue;
    CHECK(queue.empty() && std::isinf(queue.smallest_bound()));
    for (const Numbered& node : std::vector<Numbered>{{3, 0}, {1, 1}, {2, 2}, {1, 3}}) {
        queue.push(node);
    }
    CHECK(queue.smallest_bound() == 1 && queue.memory() >= 400);
    CHECK(queue.pop_best().number == 3);
    CHECK(queue.pop_best().number == 1);
    CHECK(queue.pop_newest().number == 2);
    CHECK(queue.pop_newest().number == 0);
    CHECK(queue.empty() && queue.memory() == 0);
}

TEST(a_queue_agrees_with_a_plain_list) {
    Random random(5);
    NodeQueue<Numbered> queue;
    std::vector<Numbered> list;  // oldest first
    const auto take = [&](std::vector<Numbered>::iterator place) {
        const std::uint64_t number = place->number;
        list.erase(place);
        return number;
    };
    for (std::uint64_t step = 0; step < 4000; ++step) {
        const std::size_t choice = random.below(8);
        if (list.empty() || choice < 4) {
            const Numbered node{static_cast<double>(random.below(20)), step};
            queue.push(node);
            list.push_back(node);
        } else if (choice < 6) {
            const auto best = std::min_element(
                list.rbegin(), list.rend(),
                [](const Numbered& left, const Numbered& right) { return left.bound < right.bound; });
            CHECK(queue.smallest_bound() == best->bound);
            CHECK(queue.pop_best().number == take(std::prev(best.base())));
        } else if (choice < 7) {
            CHECK(queue.pop_newest().number == take(std::prev(list.end())));
        } else {
            queue.drop_from(16);
            std::erase_if(list, [](const Numbered& node) { return node.bound >= 16; });
        }
        CHECK(queue.empty() == list.empty() && queue.memory() >= 100 * list.size());
    }
    CHECK(!list.empty());
    const std::vector<Numbered> all = queue.take_all();
    CHECK(queue.empty() && queue.memory() == 0);
    CHECK(std::equal(all.begin(), all.end(), list.begin(), list.end(),
                     [](const Numbered& left, const Numbered& right) { return left.number == right.number; }));
}
