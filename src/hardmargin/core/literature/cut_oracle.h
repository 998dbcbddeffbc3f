// Combinatorial Benders' cuts: sets of samples that no hyperplane of interest keeps together, minimal for
// inclusion.
//
// Of interest are the hyperplanes with w in a region: a box |w_j| <= radius, a ball ||w|| <= radius, or no bound at
// all. A set counts as impossible only if certified multipliers prove it, so every cut holds for all w of the box
// or the ball. Without a bound rounding leaves some very long w possible, so that cuts are claimed for ||w|| <=
// radius.
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
        possible,    // some hyperplane of the region keeps the samples asked for
        impossible,  // none does; members() says why
        unknown      // rounding or a stop got in the way
    };

    // The square of `radius` must be above zero.
    CutOracle(const Samples& samples, WeightRegion region, double radius);

    // Whether the samples with asked[i] != 0 can be kept together; one entry per sample.
    Answer separate(std::span<const unsigned char> asked);
    // After impossible: samples asked for that cannot be kept together, in rising order. Without any one of them
    // the others can, unless rounding or a stop hides it.
    std::span<const std::size_t> members() const { return members_; }

    void set_stop(std::function<bool()> stop) { solver_.set_stop(std::move(stop)); }

private:
    // Whether the enabled samples can be kept together.
    Answer decide();
    // The samples of the certificate, those with small multipliers first.
    std::vector<std::size_t> proof() const;
    // Leaves out of the proof what is not needed.
    void minimise();

    const Samples& samples_;
    WeightRegion region_;
    double largest_value_;  // of 1/2 ||w||^2 in the region
    MaxMargin solver_;
    MaxMargin::Solution start_;
    std::vector<std::size_t> members_;
};

}  // namespace hardmargin
