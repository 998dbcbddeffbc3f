// Rounding errors of sums.
//
// An operation on doubles has a relative error of at most u = 2^-53. So a sum of k numbers of the same sign, added
// in any order, has a relative error below k u (1 + k u); if every number is itself the result of r operations, the
// error is below (k + r) u (1 + (k + r) u). sum_rounding(k) is 8 k u: with fewer than 2^40 terms this covers r up
// to 6 k, and a few operations on the sum afterwards. A quantity that is increased and decreased k times, and never
// exceeds a limit, is wrong by less than k u times that limit, which is covered as well.
//
// Sums of few terms get a larger allowance than they need. It is still far below every gap that can be requested.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace hardmargin {

inline constexpr double least_rounding = 1e-11;

// A bound on the relative error of a sum of this many terms.
inline double sum_rounding(std::size_t terms, double least = least_rounding) {
    return std::max(least, 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(terms));
}

// A number that the exact sum of this many terms is not below.
inline double safely_below(double sum, std::size_t terms = 1) {
    return sum * (1 - sum_rounding(terms));
}

}  // namespace hardmargin
