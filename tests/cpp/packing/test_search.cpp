#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/control.h"
#include "base/random.h"
#include "check.h"
#include "packing/frontier.h"
#include "packing/search.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

constexpr double gap = 1e-9;

// The cover bound is made for larger problems: here it is used everywhere, nowhere, or by observation.
PackingOptions options_for(int trial) {
    PackingOptions options;
    options.gap = gap;
    if (trial % 3 != 2) {
        options.cover_distance = trial % 3 == 0 ? 0 : PackingState::no_cover;
    }
    if (trial % 5 == 0) {
        // No memory for sets of other subproblems, nor for inverses of bases.
        options.pool_memory = 0;
    }
    return options;
}

PackingOutcome search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                      const PackingOptions& options, const SearchLimits& limits = {}) {
    Control control(1e6, {});
    return packing_search(samples, std::move(frontier), upper, options, limits, control);
}

PackingNode root(double upper) {
    return {{}, {}, 0, upper};
}

double worst_upper(const Samples& samples) {
    double total = 0;
    for (const double cost : samples.costs()) {
        total += cost;
    }
    return total;
}

std::vector<PackingNode> as_if_from_a_file(const std::vector<PackingNode>& nodes, const Samples& samples) {
    const PlainFrontier written = plain(nodes);
    std::vector<PackingNode> read;
    restore({written.integers, written.ends, written.numbers}, samples, read);
    return read;
}

}  // namespace

// From w = 0 and from slightly above the optimum: starting at the optimum would hide wrong pruning.
TEST(the_tree_finds_and_proves_the_exhaustive_optimum) {
    Random random(31);
    for (int trial = 0; trial < 400; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        for (const double upper : {worst_upper(samples) * 1.01, optimum * 1.1 + 1e-6}) {
            const PackingOutcome outcome = search(samples, {root(upper)}, upper, options_for(trial));
            CHECK(outcome.open.empty());
            CHECK_NEAR(outcome.best.objective, optimum, 1e-7 * optimum + 1e-9);
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
            CHECK(outcome.lower_bound >= outcome.best.objective * (1 - 2 * gap));
        }
    }
}

TEST(bounds_hold_when_the_search_is_cut_short_and_it_can_be_continued) {
    Random random(32);
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        double upper = optimum * 1.3 + 1e-6;
        double best = upper;
        double lower_bound = 0;
        std::vector<PackingNode> frontier = {root(upper)};
        SearchLimits limits;
        limits.slice = 1 + random.below(3);
        limits.node_limit = 1;
        for (int part = 0; part < 10000 && !frontier.empty(); ++part) {
            const PackingOutcome outcome = search(samples, frontier, upper, options_for(trial), limits);
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
            lower_bound = std::max(lower_bound, outcome.lower_bound);
            best = std::min(best, outcome.best.objective);
            upper = best;
            frontier = as_if_from_a_file(outcome.open, samples);
        }
        CHECK(frontier.empty());
        CHECK_NEAR(best, optimum, 1e-7 * optimum + 1e-9);
        CHECK(lower_bound >= best * (1 - 2 * gap));
    }
}

TEST(bounds_hold_when_the_search_goes_on_with_a_larger_objective) {
    Random random(37);
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        SearchLimits limits;
        limits.slice = 1 + random.below(3);
        limits.node_limit = 1;
        // What is closed below a target under the optimum may contain solutions above the target.
        const double target = (0.5 + 0.5 * random.uniform()) * optimum;
        PackingOutcome outcome = search(samples, {root(target)}, target, options_for(trial), limits);
        const double upper = optimum * 1.3 + 1e-6;
        for (int part = 0; part < 10000 && !outcome.open.empty(); ++part) {
            outcome = search(samples, outcome.open, upper, options_for(trial), limits);
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
        }
    }
}

// Even if it pauses at once, every part of the search makes progress, and nothing is lost in between.
TEST(a_search_that_pauses_all_the_time_ends_all_the_same) {
    Random random(38);
    for (int trial = 0; trial < 100; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        SearchLimits limits;
        limits.threads = 1 + random.below(3);
        limits.pause = 0;
        double best = worst_upper(samples);
        std::vector<PackingNode> open = {root(best)};
        for (int part = 0; part < 10000 && !open.empty(); ++part) {
            PackingOutcome outcome = search(samples, std::move(open), best, options_for(trial), limits);
            // No new node if nothing that was open can be better than the incumbent.
            CHECK(outcome.nodes > 0 || outcome.open.empty());
            CHECK(outcome.nodes <= limits.threads);
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
            best = std::min(best, outcome.best.objective);
            open = std::move(outcome.open);
        }
        CHECK(open.empty());
        CHECK_NEAR(best, optimum, 1e-7 * optimum + 1e-9);
    }
}

TEST(a_target_below_the_optimum_is_proven_without_a_solution) {
    Random random(33);
    for (int trial = 0; trial < 200; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 12, 3);
        const Samples samples = problem.samples();
        const double target = 0.7 * testing::exhaustive_optimum(problem);
        const PackingOutcome outcome = search(samples, {root(target)}, target, options_for(trial));
        CHECK(outcome.open.empty());
        CHECK(outcome.best.weights.empty());
        CHECK_NEAR(outcome.lower_bound, target, 1e-8 * target);
    }
}

// Sets from lower targets, or from problems with other costs, stay valid.
TEST(searches_that_learn_from_each_other_stay_valid) {
    Random random(39);
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        PackingOptions options = options_for(trial % 2 == 0 ? 0 : 2);
        options.knowledge = std::make_shared<PackingKnowledge>(samples);
        for (const double share : {0.4, 0.8, 1.3, 0.6, 1.1}) {
            SearchLimits limits;
            limits.slice = 1 + random.below(8);
            limits.threads = 1 + random.below(2);
            const double upper = share * optimum + (share > 1 ? 1e-6 : 0);
            const PackingOutcome outcome = search(samples, {root(upper)}, upper, options, limits);
            CHECK(outcome.open.empty());
            CHECK(outcome.lower_bound <= optimum * (1 + 1e-9) + 1e-12);
            if (share > 1) {
                CHECK_NEAR(outcome.best.objective, optimum, 1e-7 * optimum + 1e-9);
            } else {
                CHECK_NEAR(outcome.lower_bound, upper, 1e-8 * upper);
            }
        }
        // The norm that keeping samples needs does not depend on the costs.
        testing::RandomProblem dearer = problem;
        for (double& cost : dearer.costs) {
            cost *= 0.5 + 2 * random.uniform();
        }
        const Samples other = dearer.samples();
        CHECK(options.knowledge->is_of(other));
        const double upper = testing::exhaustive_optimum(dearer) * 1.1 + 1e-6;
        const PackingOutcome outcome = search(other, {root(upper)}, upper, options);
        CHECK(outcome.open.empty());
        CHECK_NEAR(outcome.best.objective, testing::exhaustive_optimum(dearer),
                   1e-7 * outcome.best.objective + 1e-9);
    }
}

TEST(knowledge_tells_whose_it_is) {
    Random random(40);
    testing::RandomProblem problem = testing::random_problem(random, 14, 4);
    const PackingKnowledge knowledge(problem.samples());
    CHECK(knowledge.is_of(problem.samples()));
    problem.features[0] += 1;
    CHECK(!knowledge.is_of(problem.samples()));
    problem.features[0] -= 1;
    problem.labels[0] *= -1;
    CHECK(!knowledge.is_of(problem.samples()));
}

TEST(threads_and_memory_limits_do_not_change_the_answer) {
    Random random(34);
    for (int trial = 0; trial < 60; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        const double upper = optimum * 1.2 + 1e-6;
        SearchLimits limits;
        limits.threads = 3;
        limits.slice = 2;
        limits.memory = trial % 2 == 0 ? 0 : limits.memory;
        const PackingOutcome outcome = search(samples, {root(upper)}, upper, options_for(trial), limits);
        CHECK(outcome.open.empty());
        CHECK_NEAR(outcome.best.objective, optimum, 1e-7 * optimum + 1e-9);
    }
}

TEST(one_thread_searches_the_same_tree_every_time) {
    Random random(35);
    const testing::RandomProblem problem = testing::random_problem(random, 40, 3);
    const Samples samples = problem.samples();
    const double upper = worst_upper(samples);
    for (const int kind : {0, 2}) {
        const PackingOutcome first = search(samples, {root(upper)}, upper, options_for(kind));
        const PackingOutcome second = search(samples, {root(upper)}, upper, options_for(kind));
        CHECK(first.nodes == second.nodes);
        CHECK(first.work == second.work);
        CHECK(first.best.weights == second.best.weights);
    }
}

// Whenever the search is stopped, the optimum has been found or is in an open node.
TEST(a_stop_at_any_moment_loses_nothing) {
    Random random(36);
    for (int trial = 0; trial < 60; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        PackingOptions options = options_for(trial % 2 == 0 ? 0 : 2);
        for (int moment = 0; moment < 400; moment += 1 + moment / 8) {
            int calls = 0;
            double best = optimum * 1.1 + 1e-6;
            PackingTree tree(samples, options, [&](const MaxMargin& solver) {
                best =
                    std::min(best, evaluate(samples, solver.weights(), solver.bias(), solver.margins()).objective);
                return best;
            });
            std::vector<PackingNode> open = tree.search(root(best), best, 1000, [&] { return calls++ >= moment; });
            for (PackingNode& node : open) {
                CHECK(node.bound <= std::max(optimum, best) * (1 + 1e-9));
            }
            if (!open.empty()) {
                best = std::min(best, search(samples, open, best, options_for(1)).best.objective);
            }
            CHECK_NEAR(best, optimum, 1e-7 * optimum + 1e-9);
        }
    }
}

TEST(packing_refuses_a_frontier_without_subproblems) {
    Random random(47);
    const Samples samples = testing::random_problem(random, 10, 2).samples();
    bool refused = false;
    try {
        search(samples, {}, 1.0, options_for(0));
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}

TEST(a_root_decides_samples_that_exist_and_each_of_them_once) {
    const std::vector<PackingNode> whole = packing_root(3, {}, {}, 1.0, 2.0);
    CHECK(whole.size() == 1 && whole[0].kept.empty() && whole[0].given_up.empty());
    CHECK(whole[0].bound == 1.0 && whole[0].upper == 2.0);
    const std::vector<PackingNode> part = packing_root(3, {0}, {2}, 0.0, 2.0);
    CHECK(part.size() == 1 && part[0].kept == std::vector<std::uint32_t>{0} &&
          part[0].given_up == std::vector<std::uint32_t>{2});
    const auto is_refused = [](const std::vector<std::uint32_t>& kept, const std::vector<std::uint32_t>& given_up) {
        try {
            packing_root(3, kept, given_up, 0.0, 2.0);
            return false;
        } catch (const std::invalid_argument&) {
            return true;
        }
    };
    CHECK(is_refused({3}, {}));
    CHECK(is_refused({1}, {1}));
    CHECK(is_refused({}, {2, 2}));
}
