#include "primal/hinge.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/kernels.h"

namespace hardmargin {

HingeLoss::HingeLoss(const Samples& samples)
    : samples_(samples),
      // As long as the longest sample, so that the bias is penalised little.
      bias_feature_(samples.largest_norm() > 0 ? samples.largest_norm() : 1.0),
      multipliers_(samples.count()),
      hyperplane_{std::vector<double>(samples.stride()), 0.0} {}

void HingeLoss::reset() {
    std::fill(multipliers_.begin(), multipliers_.end(), 0.0);
}

const Hyperplane& HingeLoss::solve(std::span<const double> limits, std::size_t passes, Random& random,
                                   const std::function<bool()>& stop) {
    assert(limits.size() == samples_.count());
    constexpr double movement_tolerance = 1e-3;
    // Within a pass over many samples, `stop` is called every few milliseconds.
    constexpr std::uint64_t work_between_stops = 4'000'000;
    const std::size_t stride = samples_.stride();
    const double bias_square = bias_feature_ * bias_feature_;
    std::vector<double>& weights = hyperplane_.weights;
    std::fill(weights.begin(), weights.end(), 0.0);
    double bias = 0;
    order_.clear();
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        multipliers_[i] = std::min(multipliers_[i], limits[i]);
        if (multipliers_[i] > 0) {
            add_scaled(weights.data(), multipliers_[i], samples_.row(i), stride);
            bias += multipliers_[i] * samples_.label(i) * bias_square;
        }
        if (limits[i] > 0) {
            order_.push_back(i);
        }
    }
    for (std::size_t pass = 0; pass < passes; ++pass) {
        random.shuffle(order_);
        double movement = 0;
        std::uint64_t work_since_stop = 0;
        bool stopped = false;
        for (const std::size_t i : order_) {
            work_since_stop += 2 * stride;
            if (work_since_stop > work_between_stops) {
                work_since_stop = 0;
                stopped = stop();
                if (stopped) {
                    break;
                }
            }
            const double label = samples_.label(i);
            const double slope = samples_.margin(i, weights.data(), bias) - 1;
            const double curvature = samples_.norm(i) * samples_.norm(i) + bias_square;
            const double moved = std::clamp(multipliers_[i] - slope / curvature, 0.0, limits[i]);
            const double change = moved - multipliers_[i];
            if (change != 0) {
                multipliers_[i] = moved;
                movement = std::max(movement, std::abs(change) / limits[i]);
                add_scaled(weights.data(), change, samples_.row(i), stride);
                bias += change * label * bias_square;
            }
        }
        work_ += 2 * order_.size() * stride;
        if (stopped || movement < movement_tolerance || stop()) {
            break;
        }
    }
    hyperplane_.bias = bias;
    return hyperplane_;
}

}  // namespace hardmargin
