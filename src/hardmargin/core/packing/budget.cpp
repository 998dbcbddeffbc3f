#include "packing/budget.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace hardmargin {

namespace {

// The violations of priced samples; the cost is infinite if the others exceed the budget. Samples with at least
// `least_kept` as their margin count as kept.
Violations violations_within(const Samples& samples, const Budget& budget, std::span<const double> margins,
                             double least_kept) {
    Violations found;
    std::array<double, 2> given_up{};
    for (std::size_t i = 0; i < samples.count(); ++i) {
        if (margins[i] >= least_kept) {
            found.smallest_kept_margin = std::min(found.smallest_kept_margin, margins[i]);
        } else {
            given_up[samples.label(i) > 0] += samples.cost(i);
        }
    }
    for (const bool positive : {false, true}) {
        found.cost += budget.limits(positive) ? 0.0 : given_up[positive];
        if (given_up[positive] > budget.of_class(positive)) {
            found.cost = Budget::unlimited;
        }
    }
    if (given_up[0] + given_up[1] > budget.total) {
        found.cost = Budget::unlimited;
    }
    return found;
}

}  // namespace

Incumbent evaluate(const Samples& samples, const Budget& budget, const MaxMargin& solver) {
    if (!budget.limits_any()) {
        return evaluate(samples, solver.weights(), solver.bias(), solver.margins());
    }
    Violations violated = violations_within(samples, budget, solver.margins(), kept_margin);
    if (violated.cost == Budget::unlimited) {
        // A kept sample that rounding left just short of its margin must not count as given up. The hyperplane is
        // scaled up, which costs less than the rounding of a margin.
        violated = violations_within(samples, budget, solver.margins(), nearly_kept_margin);
    }
    return scaled(samples, solver.weights(), solver.bias(), violated);
}

}  // namespace hardmargin
