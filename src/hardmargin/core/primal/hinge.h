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

// Dual coordinate descent, the bias as one more feature. Approximate, and quick when the limits of one call
// are close to those of the call before.
class HingeLoss {
public:
    explicit HingeLoss(const Samples& samples);

    // One limit per sample, not negative; samples with a limit of zero take no part. Ends after `passes` over the
    // samples, when the multipliers hardly move, or when `stop`, asked once a pass, says yes.
    const Hyperplane& solve(std::span<const double> limits, std::size_t passes, Random& random,
                            const std::function<bool()>& stop);
    // Starts anew at the next call.
    void reset();

    // Multiply-adds spent.
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
