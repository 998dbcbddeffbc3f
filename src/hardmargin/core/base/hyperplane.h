// Hyperplanes as solutions of the problem.
#pragma once

#include <vector>

#include "base/samples.h"
#include "qp/max_margin.h"

namespace hardmargin {

// A hyperplane with the margin of every kept sample at least 1, and what it costs.
struct Incumbent {
    std::vector<double> weights;  // Samples::dimension() entries
    double bias = 0;
    double objective = 0;
};

// The solver's hyperplane, scaled up where rounding left a kept sample a hair short of its margin.
Incumbent evaluate(const Samples& samples, const MaxMargin& solver);

}  // namespace hardmargin
