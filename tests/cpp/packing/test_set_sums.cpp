#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "packing/set_sums.h"

using namespace hardmargin;

namespace {

constexpr std::uint32_t item_count = 30;

std::vector<std::vector<std::uint32_t>> random_sets(Random& random, std::size_t count) {
    std::vector<std::vector<std::uint32_t>> sets(count);
    for (auto& set : sets) {
        // Empty sets too.
        std::vector<std::uint32_t> all(item_count);
        std::iota(all.begin(), all.end(), 0u);
        random.shuffle(all);
        all.resize(random.below(item_count));
        set = all;
    }
    return sets;
}

}  // namespace

TEST(sums_are_those_of_the_sets_in_any_order) {
    Random random(3);
    SetSums sums(item_count);
    CHECK(sums.empty());
    for (int trial = 0; trial < 200; ++trial) {
        const auto sets = random_sets(random, 40);
        // Some of the sets, and other ones than before.
        std::vector<std::uint32_t> numbers;
        for (std::uint32_t number = 0; number < sets.size(); ++number) {
            if (random.uniform() < 0.5) {
                numbers.push_back(number);
            }
        }
        random.shuffle(numbers);
        sums.assign(numbers, [&](std::uint32_t number) { return std::span<const std::uint32_t>(sets[number]); });
        std::vector<std::uint32_t> known(sums.numbers().begin(), sums.numbers().end());
        std::sort(known.begin(), known.end());
        std::sort(numbers.begin(), numbers.end());
        CHECK(known == numbers);
        for (int round = 0; round < 3; ++round) {
            std::vector<double> values(item_count + 1);
            for (std::uint32_t item = 0; item < item_count; ++item) {
                values[item] = random.uniform();
            }
            const std::span<const double> computed = sums.compute(values);
            CHECK(computed.size() == numbers.size());
            for (std::size_t k = 0; k < computed.size(); ++k) {
                double expected = 0;
                for (const std::uint32_t item : sets[sums.numbers()[k]]) {
                    expected += values[item];
                }
                CHECK_NEAR(computed[k], expected, 1e-12);
            }
        }
    }
    sums.clear();
    CHECK(sums.empty());
    CHECK(sums.compute(std::vector<double>(item_count + 1)).empty());
}
