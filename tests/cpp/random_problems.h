// Small random problems of the kinds that break solvers, and an exhaustive search that is independent of the core.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/samples.h"

namespace hardmargin::testing {

struct RandomProblem {
    std::string kind;
    std::size_t count;
    std::size_t dimension;
    std::vector<double> features;
    std::vector<double> labels;
    std::vector<double> costs;

    Samples samples() const { return Samples(features, labels, costs); }
};

// Gaussian, integer grid, repeated samples, collinear, constant feature, nearly separable, badly scaled
// columns, and the same with unequal costs, in all sizes up to `most_samples` and `most_features`.
RandomProblem random_problem(Random& random, std::size_t most_samples, std::size_t most_features);

// The optimum by enumeration: some optimal hyperplane is the shortest one that is tight on at most dimension
// + 1 samples, or w = 0. Solves the normal equations by elimination in long double.
double exhaustive_optimum(const RandomProblem& problem);

// All hyperplanes of that enumeration except w = 0, with their objectives.
struct EnumeratedHyperplane {
    std::vector<double> weights;
    std::vector<bool> kept;  // by samples
    double half_norm;
    double objective;
};
std::vector<EnumeratedHyperplane> enumerated_hyperplanes(const RandomProblem& problem);

// The value of the max-margin problem over the samples marked in `kept` (infinity if they cannot be
// separated), by the same enumeration.
double exhaustive_margin_value(const RandomProblem& problem, const std::vector<bool>& kept);

}  // namespace hardmargin::testing
