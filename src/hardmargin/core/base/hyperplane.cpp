#include "base/hyperplane.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "base/kernels.h"

namespace hardmargin {

Incumbent evaluate(const Samples& samples, std::span<const double> weights, double bias,
                   std::span<const double> margins) {
    assert(weights.size() == samples.stride() && margins.size() >= samples.count());
    constexpr double kept_margin = 1 - 1e-9;
    Incumbent found;
    double smallest = 1;
    double cost = 0;
    for (std::size_t i = 0; i < samples.count(); ++i) {
        const double margin = margins[i];
        if (margin >= kept_margin) {
            smallest = std::min(smallest, margin);
        } else {
            cost += samples.cost(i);
        }
    }
    found.objective = 0.5 * dot(weights.data(), weights.data(), samples.stride()) / (smallest * smallest) + cost;
    found.weights.assign(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(samples.dimension()));
    for (double& weight : found.weights) {
        weight /= smallest;
    }
    found.bias = bias / smallest;
    return found;
}

}  // namespace hardmargin
