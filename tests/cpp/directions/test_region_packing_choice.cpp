#include "check.h"
#include "directions/region_packing_choice.h"

using namespace hardmargin;

TEST(sets_are_looked_for_where_that_closes_more_for_the_same_work) {
    RegionPackingChoice choice;
    CHECK(!choice.packs());
    choice.observe(0.5, 100, 1.0, 150);
    CHECK(choice.packs());
    choice.observe(1.0, 100, 1.0, 1000);
    choice.observe(1.0, 100, 1.0, 1000);
    CHECK(!choice.packs());
    // Slices in which nothing was closed do not count, and one that is far larger than the others counts once.
    choice.observe(0, 1e9, 0, 1e9);
    CHECK(!choice.packs());
    choice.observe(1e-9, 1e9, 1e-3, 1e9);
    choice.observe(1e-9, 1e9, 1e-3, 1e9);
    CHECK(choice.packs());
}

TEST(slices_are_searched_both_ways_the_less_often_the_clearer_it_is) {
    RegionPackingChoice choice;
    const auto slices_before_comparing = [&] {
        int slices = 0;
        while (!choice.compares()) {
            ++slices;
        }
        return slices;
    };
    CHECK(slices_before_comparing() == 3);
    choice.observe(1, 1, 1, 2);
    CHECK(slices_before_comparing() == 31);
    choice.observe(1, 1, 1, 2);
    CHECK(slices_before_comparing() == 63);
    for (int times = 0; times < 3; ++times) {
        choice.observe(1, 1, 1, 2);
        CHECK(slices_before_comparing() == 127);
    }
    choice.observe(1, 2, 1, 1);
    CHECK(slices_before_comparing() == 15);
    // Without an observation the comparison is repeated.
    choice.observe(0, 1, 0, 1);
    CHECK(slices_before_comparing() == 15);
}
