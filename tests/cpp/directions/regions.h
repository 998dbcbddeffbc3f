// Regions and conflicts for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/random.h"
#include "directions/node.h"
#include "directions/pair_conflicts.h"

namespace hardmargin::testing {

inline DirectionNode random_region(Random& random, std::size_t dimension) {
    DirectionNode region;
    region.face = static_cast<std::uint32_t>(random.below(dimension));
    region.sign = random.below(2) == 0 ? 1 : -1;
    for (std::size_t k = 0; k < dimension; ++k) {
        const double width = std::pow(10.0, -5 * random.uniform());
        const double low = -1 + (2 - width) * random.uniform();
        region.low.push_back(k == region.face ? region.sign : low);
        region.high.push_back(k == region.face ? region.sign : low + width);
    }
    region.longest = std::pow(10.0, 2 - 4 * random.uniform());
    region.shortest = random.below(2) == 0 ? 0 : region.longest * random.uniform();
    return region;
}

// Whether positive i and negative j conflict.
inline bool has(const PairConflicts& pairs, const PairConflicts::Level& level, std::size_t i, std::size_t j) {
    return (level.conflicts[i * pairs.words() + j / 64] >> (j % 64) & 1) != 0;
}

}  // namespace hardmargin::testing
