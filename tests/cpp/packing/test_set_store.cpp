#include <thread>
#include <vector>

#include "check.h"
#include "packing/set_pool.h"
#include "packing/set_store.h"
#include "qp/certificate.h"

using namespace hardmargin;

namespace {

constexpr std::size_t count = 300;
constexpr std::size_t plenty = 1u << 30;

std::size_t add(SetPool& pool, std::size_t first, std::size_t second, double value) {
    const std::vector<Multiplier> certificate = {{first, 1.0}, {second, 1.0}};
    return pool.add(certificate, value);
}

}  // namespace

TEST(threads_get_each_others_sets_and_the_better_values) {
    SetStore store(count);
    SetPool one(count);
    SetPool other(count);
    SetStore::Visit visit_of_one;
    SetStore::Visit visit_of_other;
    add(one, 1, 2, 5);
    add(other, 1, 2, 7);
    add(other, 3, 4, 1);
    store.exchange(one, visit_of_one, plenty);
    CHECK(one.size() == 1);
    store.exchange(other, visit_of_other, plenty);
    CHECK(other.size() == 2);
    CHECK(other.value(0) == 7);
    store.exchange(one, visit_of_one, plenty);
    CHECK(one.size() == 2);
    CHECK(one.value(0) == 7);
    CHECK((one.samples(1) == std::vector<std::uint32_t>{3, 4}));
    CHECK(store.size() == 2);
    // Nothing has changed since.
    store.exchange(one, visit_of_one, plenty);
    store.exchange(other, visit_of_other, plenty);
    CHECK(one.size() == 2);
    CHECK(other.size() == 2);
}

TEST(a_pool_that_comes_later_gets_what_was_used_last) {
    SetStore store(count);
    SetPool first(count);
    SetStore::Visit visit;
    const std::size_t used = add(first, 0, 1, 3);
    for (std::size_t k = 2; k < 200; ++k) {
        add(first, k, k + 1, 1);
    }
    store.exchange(first, visit, plenty);
    first.note_use(used);
    // Not enough memory for all of them: half of the sets are dropped, and the most recently used one stays.
    store.exchange(first, visit, 0);
    CHECK(store.size() < 150);
    SetPool second(count);
    SetStore::Visit visit_of_second;
    store.exchange(second, visit_of_second, plenty);
    CHECK(second.size() == store.size());
    bool found = false;
    for (std::size_t index = 0; index < second.size(); ++index) {
        found = found || (second.value(index) == 3 && second.samples(index) == std::vector<std::uint32_t>{0, 1});
    }
    CHECK(found);
}

TEST(exchanges_of_several_threads_lose_nothing) {
    SetStore store(count);
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&store, thread] {
            SetPool pool(count);
            SetStore::Visit visit;
            for (std::size_t k = 0; k < 50; ++k) {
                add(pool, 2 * thread, 10 + k, 1);
                store.exchange(pool, visit, plenty);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(store.size() == 200);
}
