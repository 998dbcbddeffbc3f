#include <cmath>
#include <cstddef>

#include "base/random.h"
#include "base/rounding.h"
#include "check.h"

using namespace hardmargin;

TEST(sums_are_without_doubt_what_is_left_of_them) {
    Random random(91);
    for (const std::size_t terms : {std::size_t{10}, std::size_t{10'000}, std::size_t{3'000'000}}) {
        double sum = 0;
        long double exact = 0;
        for (std::size_t k = 0; k < terms; ++k) {
            const double term = std::pow(10.0, 3 * random.uniform());
            sum += term;
            exact += term;
        }
        CHECK(safely_below(sum, terms) < exact);
        CHECK(sum * (1 + sum_rounding(terms)) > exact);
    }
}

// The worst case for a sum: every term is rounded away.
TEST(allowances_grow_with_the_number_of_terms) {
    CHECK(sum_rounding(1) == least_rounding);
    constexpr std::size_t terms = 1'000'000;
    const double term = 0x1p-53;
    double sum = 1;
    for (std::size_t k = 0; k < terms; ++k) {
        sum += term;
    }
    const double exact = 1 + static_cast<double>(terms) * term;
    CHECK(sum == 1);
    CHECK(sum * (1 + least_rounding) < exact);
    CHECK(sum * (1 + sum_rounding(terms)) > exact);
}
