#include "base/hyperplane.h"

#include <algorithm>

#include "base/kernels.h"

namespace hardmargin {

Incumbent evaluate(const Samples& samples, const MaxMargin& solver) {
    constexpr double kept_margin = 1 - 1e-9;
    Incumbent found;
    double smallest = 1;
    double cost = 0;
    for (std::size_t i = 0; i < samples.count(); ++i) {
        const double margin = solver.margins()[i];
        if (margin >= kept_margin) {
            smallest = std::min(smallest, margin);
        } else {
            cost += samples.cost(i);
        }
    }
    const double* weights = solver.weights().data();
    found.objective = 0.5 * dot(weights, weights, samples.stride()) / (smallest * smallest) + cost;
    found.weights.assign(weights, weights + samples.dimension());
    for (double& weight : found.weights) {
        weight /= smallest;
    }
    found.bias = solver.bias() / smallest;
    return found;
}

}  // namespace hardmargin
