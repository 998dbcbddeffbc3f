#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/control.h"
#include "base/random.h"
#include "check.h"
#include "packing/budget.h"
#include "packing/search.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

constexpr double gap = 1e-9;
// No hyperplane of the enumeration that matters has a larger objective.
constexpr double largest = 1e15;

// A total, limits for both classes, or a limit for one of them: 0, whole samples, or a fraction of all costs.
Budget random_budget(Random& random, const Samples& samples, int trial) {
    double total = 0;
    for (const double cost : samples.costs()) {
        total += cost;
    }
    const auto limit = [&] { return random.below(4) == 0 ? 0.0 : total * 0.3 * random.uniform() * (1 + 1e-9); };
    Budget budget;
    if (trial % 3 == 0) {
        budget.total = limit();
        return budget;
    }
    (trial % 2 == 0 ? budget.positives : budget.negatives) = limit();
    if (trial % 3 == 1) {
        (trial % 2 == 0 ? budget.negatives : budget.positives) = limit();
    }
    return budget;
}

double objective_within(const testing::RandomProblem& problem, const Budget& budget, double half_norm,
                        const std::vector<bool>& kept) {
    double given_up[2] = {0, 0};
    for (std::size_t i = 0; i < problem.count; ++i) {
        given_up[problem.labels[i] > 0] += kept[i] ? 0.0 : problem.costs[i];
    }
    if (given_up[0] > budget.negatives || given_up[1] > budget.positives ||
        given_up[0] + given_up[1] > budget.total) {
        return std::numeric_limits<double>::infinity();
    }
    return half_norm + (budget.limits(false) ? 0.0 : given_up[0]) + (budget.limits(true) ? 0.0 : given_up[1]);
}

double exhaustive_optimum_within(const testing::RandomProblem& problem, const Budget& budget) {
    double best = std::numeric_limits<double>::infinity();
    for (const bool side : {false, true}) {
        std::vector<bool> kept;
        for (const double label : problem.labels) {
            kept.push_back((label > 0) == side);
        }
        best = std::min(best, objective_within(problem, budget, 0, kept));
    }
    for (const testing::EnumeratedHyperplane& found : testing::enumerated_hyperplanes(problem)) {
        best = std::min(best, objective_within(problem, budget, found.half_norm, found.kept));
    }
    return best;
}

}  // namespace

TEST(a_budget_says_which_classes_it_limits) {
    const Budget none;
    CHECK(!none.limits_any() && none.credit() == 0);
    const Budget total{.total = 3};
    CHECK(total.limits_all() && total.credit() == 3);
    const Budget positives{.positives = 2};
    CHECK(positives.limits(true) && !positives.limits(false) && positives.credit() == 2);
    const Budget both{.negatives = 1, .positives = 2};
    CHECK(both.limits_all() && both.credit() == 3);
}

// From an objective that nothing exceeds, from slightly above the optimum, and below it.
TEST(the_tree_finds_and_proves_the_exhaustive_optimum_within_a_budget) {
    Random random(61);
    int feasible = 0;
    int infeasible = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 12, 3);
        const Samples samples = problem.samples();
        PackingOptions options;
        options.gap = gap;
        options.budget = random_budget(random, samples, trial);
        if (trial % 4 != 3) {
            options.cover_distance = trial % 4 == 0 ? 0 : PackingState::no_cover;
        }
        const double optimum = exhaustive_optimum_within(problem, options.budget);
        std::vector<double> uppers = {largest};
        if (optimum > 0 && optimum < largest / 10) {
            uppers.insert(uppers.end(), {optimum * 1.1, optimum * 0.7});
        }
        for (const double upper : uppers) {
            Control control(1e6, {});
            const PackingOutcome outcome =
                packing_search(samples, {{{}, {}, 0, upper}}, upper, options, {}, control);
            CHECK(outcome.open.empty());
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
            if (optimum < upper) {
                CHECK_NEAR(outcome.best.objective, optimum, 1e-7 * optimum + 1e-9);
                CHECK(outcome.lower_bound >= outcome.best.objective * (1 - 2 * gap));
            } else {
                CHECK(outcome.best.weights.empty());
                CHECK(outcome.lower_bound >= upper * (1 - 2 * gap));
            }
        }
        ++(optimum < largest ? feasible : infeasible);
    }
    CHECK(feasible > 100);
    CHECK(infeasible > 20);
}
