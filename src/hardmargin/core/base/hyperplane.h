// Hyperplanes, and what they cost as solutions of the problem.
#pragma once

#include <span>
#include <vector>

#include "base/samples.h"

namespace hardmargin {

struct Hyperplane {
    std::vector<double> weights;  // padded to Samples::stride()
    double bias = 0;
};

// A hyperplane with the margin of every kept sample at least 1, and what it costs.
struct Incumbent {
    std::vector<double> weights;  // Samples::dimension() entries
    double bias = 0;
    double objective = 0;
};

// A hyperplane with these margins, y_i (w.x_i + b) for every sample, scaled up where rounding left a kept sample a
// hair short of its margin. `weights` has Samples::stride() entries.
Incumbent evaluate(const Samples& samples, std::span<const double> weights, double bias,
                   std::span<const double> margins);

}  // namespace hardmargin
