#include "base/hyperplane.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/kernels.h"

namespace hardmargin {

Violations violations(const Samples& samples, std::span<const double> margins) {
    assert(margins.size() >= samples.count());
    Violations found;
    for (std::size_t i = 0; i < samples.count(); ++i) {
        if (margins[i] >= kept_margin) {
            found.smallest_kept_margin = std::min(found.smallest_kept_margin, margins[i]);
        } else {
            found.cost += samples.cost(i);
        }
    }
    return found;
}

Incumbent scaled(const Samples& samples, std::span<const double> weights, double bias, const Violations& violated) {
    assert(weights.size() == samples.stride());
    const double smallest = violated.smallest_kept_margin;
    Incumbent found;
    found.objective = violated.objective(0.5 * dot(weights.data(), weights.data(), samples.stride()));
    found.weights.assign(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(samples.dimension()));
    for (double& weight : found.weights) {
        weight /= smallest;
    }
    found.bias = bias / smallest;
    if (!samples.within_bounds(found.weights)) {
        found.objective = std::numeric_limits<double>::infinity();
    }
    return found;
}

Incumbent evaluate(const Samples& samples, std::span<const double> weights, double bias,
                   std::span<const double> margins) {
    std::vector<double> clipped;
    std::vector<double> margins_of_clipped;
    if (samples.has_weight_bounds()) {
        clipped.assign(weights.begin(), weights.end());
        samples.clip(clipped);
        margins_of_clipped.resize(samples.padded_count());
        samples.margins(clipped.data(), bias, margins_of_clipped.data());
        weights = clipped;
        margins = margins_of_clipped;
    }
    return scaled(samples, weights, bias, violations(samples, margins));
}

double value_of(const Objective& objective, const Incumbent& incumbent) {
    if (objective.is_plain()) {
        return incumbent.objective;
    }
    double norm = 0;
    for (const double weight : incumbent.weights) {
        norm += 0.5 * weight * weight;
    }
    return objective.value(norm, std::max(0.0, incumbent.objective - norm));
}

Incumbent give_up_cheaper_class(const Samples& samples) {
    double costs[2] = {0, 0};  // of the negatives and the positives
    for (std::size_t i = 0; i < samples.count(); ++i) {
        costs[samples.label(i) > 0] += samples.cost(i);
    }
    const double kept_label = costs[1] >= costs[0] ? 1.0 : -1.0;
    std::vector<double> weights(samples.stride());
    samples.clip(weights);
    if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; })) {
        weights.resize(samples.dimension());
        return {std::move(weights), kept_label, std::min(costs[0], costs[1])};
    }
    std::vector<double> margins(samples.padded_count());
    samples.margins(weights.data(), 0.0, margins.data());
    double needed = 1;
    for (std::size_t i = 0; i < samples.count(); ++i) {
        if (samples.label(i) == kept_label) {
            needed = std::max(needed, 1 - margins[i]);
        }
    }
    const double bias = kept_label * needed;
    samples.margins(weights.data(), bias, margins.data());
    return evaluate(samples, weights, bias, margins);
}

}  // namespace hardmargin
