#include <vector>

#include "check.h"
#include "set_pool.h"

using namespace hardmargin;

namespace {

constexpr std::size_t count = 10;

std::size_t add(SetPool& pool, std::vector<std::size_t> rows, double value) {
    std::vector<Multiplier> certificate;
    for (const std::size_t row : rows) {
        certificate.push_back({row, 1.0});
    }
    return pool.add(certificate, value);
}

}  // namespace

TEST(a_set_that_is_known_keeps_its_place_and_the_better_value) {
    SetPool pool(count);
    CHECK(add(pool, {3, 1, count + 2}, 5) == 0);
    CHECK(add(pool, {1, 3}, 7) == 1);
    CHECK(add(pool, {count + 2, 1, 3}, 6) == 0);
    CHECK(add(pool, {3, 1, count + 2}, 2) == 0);
    CHECK(pool.size() == 2);
    CHECK(pool[0].value == 6);
    CHECK((pool[0].samples == std::vector<std::uint32_t>{1, 3}));
    CHECK((pool[0].flips == std::vector<std::uint32_t>{2}));
    CHECK(pool[1].flips.empty());
}

TEST(the_sets_used_last_survive) {
    SetPool pool(count);
    for (std::size_t k = 0; k < 6; ++k) {
        add(pool, {k, k + 1}, static_cast<double>(k));
    }
    pool.note_use(0);
    pool.note_use(3);
    pool.trim(2);
    CHECK(pool.size() == 2);
    CHECK(pool[0].value == 0);
    CHECK(pool[1].value == 3);
    CHECK(add(pool, {3, 4}, 9) == 1);
    CHECK(pool[1].value == 9);
    pool.trim(0);
    CHECK(pool.size() == 0);
    CHECK(pool.memory() == 0);
}
