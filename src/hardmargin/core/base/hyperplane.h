// Hyperplanes and their objective.
#pragma once

#include <span>
#include <vector>

#include "base/objective.h"
#include "base/samples.h"

namespace hardmargin {

// A sample with at least this margin is kept. The tolerance of 1e-9 is part of the definition of the objective
// (docs/numerics.md), and larger than the rounding of a margin whose terms are not far above 1.
inline constexpr double kept_margin = 1 - 1e-9;
// A sample with at least this margin is worth trying to keep if the hyperplane is only a guess: a point on a line,
// or a hyperplane from a larger region. The max-margin problem then decides; no bound relies on it.
inline constexpr double nearly_kept_margin = 1 - 1e-7;

struct Hyperplane {
    std::vector<double> weights;  // padded to Samples::stride()
    double bias = 0;
};

// A hyperplane that gives every kept sample a margin of at least 1, and its objective.
struct Incumbent {
    std::vector<double> weights;  // Samples::dimension() entries
    double bias = 0;
    double objective = 0;
};

// What a hyperplane with given margins gives up.
struct Violations {
    double cost = 0;
    double smallest_kept_margin = 1;  // at most 1

    // The objective, where `norm` is 1/2 ||w||^2, after scaling (w, b) so that every kept margin is at least 1.
    double objective(double norm) const { return norm / (smallest_kept_margin * smallest_kept_margin) + cost; }
};

// `margins` are y_i (w.x_i + b) for every sample.
Violations violations(const Samples& samples, std::span<const double> margins);

// A hyperplane that gives up `violated`, scaled up if rounding left a kept sample just short of its margin.
// `weights` has Samples::stride() entries. If scaling it up violates bounds on the weights, its objective is
// infinite.
Incumbent scaled(const Samples& samples, std::span<const double> weights, double bias, const Violations& violated);

// The same for a hyperplane with these margins. If there are bounds on the weights, it is moved to the nearest ones
// within them.
Incumbent evaluate(const Samples& samples, std::span<const double> weights, double bias,
                   std::span<const double> margins);

// The value of a hyperplane, whose objective is the one at the C of the samples.
double value_of(const Objective& objective, const Incumbent& incumbent);

// w = 0 keeps one class and gives up the other. Giving up the cheaper class needs no search, so no answer costs
// more. Regions of directions around w = 0 can only be closed against this objective or a smaller one. If bounds on
// the weights exclude w = 0, the shortest w within them takes its place.
Incumbent give_up_cheaper_class(const Samples& samples);

}  // namespace hardmargin
