#include <vector>

#include "check.h"
#include "packing/set_pool.h"

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
    CHECK(pool.value(0) == 6);
    CHECK((pool.samples(0) == std::vector<std::uint32_t>{1, 3}));
    CHECK((pool.flips(0) == std::vector<std::uint32_t>{2}));
    CHECK(pool.flips(1).empty());
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
    CHECK(pool.value(0) == 0);
    CHECK(pool.value(1) == 3);
    CHECK(add(pool, {3, 4}, 9) == 1);
    CHECK(pool.value(1) == 9);
    pool.trim(0);
    CHECK(pool.size() == 0);
    CHECK(pool.memory() == 0);
}

TEST(sets_of_another_pool_are_taken_over_with_their_values) {
    constexpr std::size_t many = 200;
    const auto certificate = [](std::vector<std::size_t> rows) {
        std::vector<Multiplier> multipliers;
        for (const std::size_t row : rows) {
            multipliers.push_back({row, 1.0});
        }
        return multipliers;
    };
    SetPool pool(many);
    SetPool other(many);
    pool.add(certificate({0, 63, 64, 199, many + 128}), 3);
    other.add(certificate({5}), 1);
    other.add(certificate({0, 63, 64, 199, many + 128}), 4);
    CHECK(pool.add(other, 1) == 0);
    CHECK(pool.value(0) == 4);
    CHECK(pool.add(other, 0) == 1);
    CHECK((pool.samples(1) == std::vector<std::uint32_t>{5}));
    CHECK((pool.samples(0) == std::vector<std::uint32_t>{0, 63, 64, 199}));
    CHECK((pool.flips(0) == std::vector<std::uint32_t>{128}));
    CHECK(pool.add(certificate({5}), 0.5) == 1);
    CHECK(pool.value(1) == 1);
    CHECK(pool.add(certificate({5}), 2) == 1);
    CHECK(pool.value(1) == 2);
}

TEST(certificates_stay_with_their_sets) {
    SetPool pool(count, true);
    add(pool, {1, 2}, 1);
    add(pool, {3, 4}, 1);
    add(pool, {5, 6}, 1);
    const std::vector<Multiplier> better = {{3, 2.0}, {4, 5.0}};
    CHECK(pool.add(better, 0.5) == 1);
    CHECK(pool.certificate(1)[0].value != 2.0 && pool.certificate(1)[1].value != 5.0);
    CHECK(pool.add(better, 3) == 1);
    CHECK(pool.certificate(1).size() == 2 && pool.certificate(1)[0].value == 2.0);
    SetPool other(count, true);
    other.add(pool, 1);
    CHECK(other.certificate(0).size() == 2 && other.certificate(0)[0].value == 2.0);
    pool.note_use(1);
    pool.trim(1);
    CHECK(pool.size() == 1 && pool.certificate(0)[0].value == 2.0 && pool.value(0) == 3);
}
