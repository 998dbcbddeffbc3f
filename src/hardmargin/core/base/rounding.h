// What sums may be wrong by.
//
// An operation on doubles is wrong by at most u = 2^-53 of its result. So a sum of k numbers of one sign, in
// whatever order it is made, is wrong by less than k u (1 + k u) of its exact value, and if every number went
// through r operations of its own before, by less than (k + r) u (1 + (k + r) u). sum_rounding(k) is 8 k u: with
// less than 2^40 terms that is enough for r up to 6 k, and for what is done with the sum afterwards. A quantity
// that is added to and taken from k times, and never exceeds its limit, is wrong by less than k u of that limit,
// for which it is enough as well.
//
// Sums of few terms are allowed more than they need. That costs nothing: it is far below every gap that can be
// asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace hardmargin {

inline constexpr double least_rounding = 1e-11;

// The share of itself by which a sum of so many terms is wrong at most.
inline double sum_rounding(std::size_t terms, double least = least_rounding) {
    return std::max(least, 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(terms));
}

// What a sum of so many terms is without doubt.
inline double safely_below(double sum, std::size_t terms = 1) {
    return sum * (1 - sum_rounding(terms));
}

}  // namespace hardmargin
