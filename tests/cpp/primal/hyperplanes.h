// Hyperplanes for tests and their objective, independent of the searches.
#pragma once

#include <cstddef>
#include <vector>

#include "base/kernels.h"
#include "base/random.h"
#include "base/samples.h"

namespace hardmargin::testing {

// Samples that miss their margin by no more than the tolerance are kept.
inline double objective_of(const Samples& samples, const std::vector<double>& weights, double bias,
                           double tolerance) {
    double objective = 0.5 * dot(weights.data(), weights.data(), samples.stride());
    for (std::size_t i = 0; i < samples.count(); ++i) {
        const double margin = dot(samples.row(i), weights.data(), samples.stride()) + samples.label(i) * bias;
        objective += margin < 1 - tolerance ? samples.cost(i) : 0.0;
    }
    return objective;
}

inline std::vector<double> random_direction(Random& random, const Samples& samples) {
    std::vector<double> direction(samples.stride());
    for (std::size_t k = 0; k < samples.dimension(); ++k) {
        direction[k] = random.normal();
    }
    return direction;
}

}  // namespace hardmargin::testing
