// Combinatorial Benders' cuts: inclusion-minimal sets of samples that no hyperplane of a region keeps together.
//
// The region of w is a box |w_j| <= radius, a ball ||w|| <= radius, or unbounded. A set counts as impossible only
// if certified multipliers prove it, so every cut holds for all w of the box or the ball. In the unbounded case
// rounding cannot exclude very long w, so cuts are claimed for ||w|| <= radius only.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/samples.h"
#include "qp/max_margin.h"

namespace hardmargin {

enum class WeightRegion { unbounded, box, ball };

class CutOracle {
public:
    enum class Answer {
        possible,    // some hyperplane of the region keeps these samples
        impossible,  // none does; members() says why
        unknown      // because of rounding or a stop
    };

    // The square of `radius` must be above zero.
    CutOracle(const Samples& samples, WeightRegion region, double radius);

    // Whether the samples with asked[i] != 0 can be kept together; one entry per sample.
    Answer separate(std::span<const unsigned char> asked);
    // After impossible: a set of these samples that cannot be kept together, in ascending order. If any one of them
    // is removed, the others can, unless rounding or a stop prevented the check.
    std::span<const std::size_t> members() const { return members_; }

    void set_stop(std::function<bool()> stop) { solver_.set_stop(std::move(stop)); }

private:
    // Whether the enabled samples can be kept together.
    Answer decide();
    // The samples of the certificate, by ascending multipliers.
    std::vector<std::size_t> proof() const;
    // Removes members that are not needed.
    void minimise();

    const Samples& samples_;
    WeightRegion region_;
    double largest_value_;  // of 1/2 ||w||^2 in the region
    MaxMargin solver_;
    MaxMargin::Solution start_;
    std::vector<std::size_t> members_;
};

}  // namespace hardmargin
