// The best offset and scale for a given direction, exactly.
//
// Along a direction s only the projections s.x matter. A hyperplane w = t s keeps the negatives up to some
// projection h and the positives from some projection u > h on; the best scale for that is t = 2 / (u - h). So the
// optimum is one of the pairs (h, u) of a negative's and a positive's projection. Both classes are sorted, and for
// each h the loop over u ends as soon as the violations alone cost more than the best pair.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/hyperplane.h"
#include "base/samples.h"

namespace hardmargin {

class OffsetSearch {
public:
    explicit OffsetSearch(const Samples& samples) : samples_(samples), flat_(give_up_cheaper_class(samples)) {}

    struct Optimum {
        Hyperplane hyperplane;
        double objective = 0;
    };

    // `direction` has Samples::stride() entries. `stop` is called now and then; if it returns true, the best pair
    // so far is the result.
    Optimum minimise(std::span<const double> direction, const std::function<bool()>& stop);
    // Pairs examined so far.
    std::uint64_t work() const { return work_; }

private:
    struct Projection {
        double position;
        double cost;
    };

    const Samples& samples_;
    const Incumbent flat_;
    std::vector<double> margins_;
    std::vector<Projection> negatives_;
    std::vector<Projection> positives_;
    std::uint64_t work_ = 0;
};

}  // namespace hardmargin
