#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/control.h"
#include "base/random.h"
#include "check.h"
#include "directions/frontier.h"
#include "directions/search.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

constexpr double gap = 1e-8;

DirectionOptions options_for(Random& random, std::size_t dimension) {
    DirectionOptions options;
    options.gap = gap;
    if (random.below(2) == 0) {
        for (std::size_t k = 0; k < dimension; ++k) {
            options.first_axis.push_back(random.normal());
        }
    }
    return options;
}

DirectionOutcome search(const Samples& samples, std::vector<DirectionNode> frontier, double upper,
                        const DirectionOptions& options, const SearchLimits& limits = {}) {
    Control control(1e6, {});
    return direction_search(samples, std::move(frontier), upper, options, limits, control);
}

// All directions.
DirectionOutcome search_all(const Samples& samples, double upper, const DirectionOptions& options,
                            const SearchLimits& limits = {}) {
    return search(samples, direction_root(samples, upper, options), upper, options, limits);
}

// The cost of giving up one class; the search must not start above it.
double trivial_upper(const Samples& samples) {
    double costs[2] = {0, 0};
    for (std::size_t i = 0; i < samples.count(); ++i) {
        costs[samples.label(i) > 0] += samples.cost(i);
    }
    return std::min(costs[0], costs[1]);
}

double safe_upper(const Samples& samples, double optimum, double factor) {
    return std::min(optimum * factor, trivial_upper(samples) * (1 + 1e-9)) + 1e-9;
}

std::vector<DirectionNode> as_if_from_a_file(const std::vector<DirectionNode>& nodes, const Samples& samples) {
    const PlainFrontier written = plain(nodes);
    std::vector<DirectionNode> read;
    restore({written.integers, written.ends, written.numbers}, samples, read);
    return read;
}

}  // namespace

// From w = 0 and from slightly above the optimum: starting at the optimum would hide wrong pruning.
TEST(the_regions_hold_the_exhaustive_optimum) {
    Random random(71);
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        DirectionOptions options = options_for(random, samples.dimension());
        options.mirrored = static_cast<std::size_t>(trial) % samples.dimension();
        for (const double factor : {1e9, 1.1}) {
            const double upper = safe_upper(samples, optimum, factor);
            const DirectionOutcome outcome = search_all(samples, upper, options);
            CHECK(outcome.open.empty());
            CHECK_NEAR(outcome.best.objective, optimum, 1e-6 * optimum + 1e-8);
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
        }
    }
}

// Merged duplicates: a few samples cost a multiple of the others.
TEST(multiples_of_a_cost_count_as_copies) {
    Random random(77);
    for (int trial = 0; trial < 150; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        for (double& cost : problem.costs) {
            cost = 0.7 * (random.below(10) == 0 ? 2 : 1);
        }
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        for (const double factor : {1e9, 1.1}) {
            const double upper = safe_upper(samples, optimum, factor);
            const DirectionOutcome outcome = search_all(samples, upper, options_for(random, samples.dimension()));
            CHECK(outcome.open.empty());
            CHECK_NEAR(outcome.best.objective, optimum, 1e-6 * optimum + 1e-8);
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
        }
    }
}

TEST(bounds_of_regions_hold_when_the_search_is_cut_short_and_it_can_be_continued) {
    Random random(72);
    for (int trial = 0; trial < 150; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 12, 3);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        const DirectionOptions options = options_for(random, samples.dimension());
        double upper = safe_upper(samples, optimum, 1.3);
        double best = upper;
        SearchLimits limits;
        limits.slice = 1 + random.below(5);
        limits.node_limit = 1 + random.below(20);
        std::vector<DirectionNode> frontier = direction_root(samples, upper, options);
        for (int part = 0; part < 100000; ++part) {
            const DirectionOutcome outcome = search(samples, frontier, upper, options, limits);
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
            best = std::min(best, outcome.best.objective);
            upper = best;
            frontier = as_if_from_a_file(outcome.open, samples);
            if (frontier.empty()) {
                break;
            }
        }
        CHECK(frontier.empty());
        CHECK_NEAR(best, optimum, 1e-6 * optimum + 1e-8);
    }
}

// Slices of one region are searched one way, the other, or both. The optimum is never lost.
TEST(short_slices_that_look_for_sets_hold_the_exhaustive_optimum) {
    Random random(74);
    for (int trial = 0; trial < 150; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        std::fill(problem.costs.begin(), problem.costs.end(), std::pow(10.0, 3 * random.uniform() - 1));
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        SearchLimits limits;
        limits.slice = 1 + random.below(20);
        const DirectionOutcome outcome = search_all(samples, safe_upper(samples, optimum, 1.1),
                                                    options_for(random, samples.dimension()), limits);
        CHECK(outcome.open.empty());
        CHECK_NEAR(outcome.best.objective, optimum, 1e-6 * optimum + 1e-8);
        CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
    }
}

TEST(threads_do_not_change_what_directions_prove) {
    Random random(73);
    for (int trial = 0; trial < 40; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        const double upper = safe_upper(samples, optimum, 1.2);
        SearchLimits limits;
        limits.threads = 3;
        limits.slice = 4;
        limits.memory = trial % 2 == 0 ? 0 : limits.memory;
        const DirectionOutcome outcome =
            search_all(samples, upper, options_for(random, samples.dimension()), limits);
        CHECK(outcome.open.empty());
        CHECK_NEAR(outcome.best.objective, optimum, 1e-6 * optimum + 1e-8);
    }
}

TEST(directions_refuse_a_frontier_without_regions) {
    Random random(75);
    const Samples samples = testing::random_problem(random, 10, 2).samples();
    bool refused = false;
    try {
        search(samples, {}, 1.0, {});
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}
