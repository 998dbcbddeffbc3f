// Hinge-loss support vector machines, as starting points:
//
//     min 1/2 ||w||^2 + sum_i limit_i max(0, 1 - y_i (w.x_i + b))
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/hyperplane.h"
#include "base/random.h"
#include "base/samples.h"

namespace hardmargin {

// Dual coordinate descent, with the bias as an additional feature. Approximate, and fast if the limits are close to
// those of the previous call.
class HingeLoss {
public:
    explicit HingeLoss(const Samples& samples);

    // One limit per sample, not negative; samples with a limit of zero are ignored. Ends after `passes` over the
    // samples, when the multipliers hardly change, or when `stop`, called at least once per pass, returns true.
    const Hyperplane& solve(std::span<const double> limits, std::size_t passes, Random& random,
                            const std::function<bool()>& stop);
    // The next call does not warm start.
    void reset();

    // Multiply-adds so far.
    std::uint64_t work() const { return work_; }

private:
    const Samples& samples_;
    double bias_feature_;
    std::vector<double> multipliers_;
    std::vector<std::size_t> order_;
    Hyperplane hyperplane_;
    std::uint64_t work_ = 0;
};

}  // namespace hardmargin
