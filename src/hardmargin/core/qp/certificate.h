// Proofs that a set of rows cannot be satisfied cheaply, from multipliers alone.
//
// A row requires a . w + c b >= d. For multipliers lambda >= 0 with sum lambda c = 0, every (w, b) that satisfies
// all rows has g . w >= s, where g = sum lambda a and s = sum lambda d. So if s > 0,
//
//     1/2 ||w||^2 >= s^2 / (2 ||g||^2).
//
// It does not matter how the multipliers were found. Because b is unbounded, sum lambda c must be exactly zero. So
// multipliers are rounded to multiples of one power of two, which makes that sum exact, and one of them is
// increased to cancel what is left. The rounding errors of g and s are bounded on the safe side, including one
// rounding of every feature when the data were centred.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/samples.h"
#include "qp/rows.h"

namespace hardmargin {

// A row, by its number (qp/rows.h), and its multiplier.
struct Multiplier {
    std::size_t row;
    double value;
};

// A multiplier as a multiple of a power of two that all of them have in common.
struct WholeMultiplier {
    std::size_t row;
    std::int64_t value;
};

// The multipliers that certified_value() uses; empty if they prove nothing. The power of two does not matter.
std::vector<WholeMultiplier> whole_multipliers(const Samples& samples, std::span<const Multiplier> multipliers);

// A valid lower bound on 1/2 ||w||^2 over all (w, b) that satisfy the rows; 0 if nothing can be claimed.
double certified_value(const Samples& samples, std::span<const ExtraRow> extra_rows,
                       std::span<const Multiplier> multipliers);

}  // namespace hardmargin
