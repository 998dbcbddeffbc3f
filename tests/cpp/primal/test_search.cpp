// The pieces of the primal search, and the first lower bound.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/control.h"
#include "base/kernels.h"
#include "base/random.h"
#include "check.h"
#include "packing/root_bound.h"
#include "primal/hinge.h"
#include "primal/line_search.h"
#include "primal/offset_search.h"
#include "primal/search.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double objective_of(const Samples& samples, const std::vector<double>& weights, double bias, double tolerance) {
    double objective = 0.5 * dot(weights.data(), weights.data(), samples.stride());
    for (std::size_t i = 0; i < samples.count(); ++i) {
        const double margin = dot(samples.row(i), weights.data(), samples.stride()) + samples.label(i) * bias;
        objective += margin < 1 - tolerance ? samples.cost(i) : 0.0;
    }
    return objective;
}

std::vector<double> random_direction(Random& random, const Samples& samples) {
    std::vector<double> direction(samples.stride());
    for (std::size_t k = 0; k < samples.dimension(); ++k) {
        direction[k] = random.normal();
    }
    return direction;
}

PrimalSearch::Budget generous() {
    return {200'000'000, 3, 0.0, 0.0};
}

}  // namespace

TEST(no_step_on_a_line_is_better_than_the_minimum_found) {
    Random random(21);
    for (int trial = 0; trial < 500; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const std::vector<double> weights = random_direction(random, samples);
        const std::vector<double> direction = random_direction(random, samples);
        const double bias = random.normal();
        const double bias_direction = random.normal();
        std::vector<double> margins(samples.padded_count());
        std::vector<double> slopes(samples.padded_count());
        samples.margins(weights.data(), bias, margins.data());
        samples.margins(direction.data(), bias_direction, slopes.data());
        const std::size_t stride = samples.stride();
        const Line line{{margins.data(), samples.count()},
                        {slopes.data(), samples.count()},
                        dot(weights.data(), weights.data(), stride),
                        dot(weights.data(), direction.data(), stride),
                        dot(direction.data(), direction.data(), stride)};
        LineSearch search(samples);
        const LineMinimum minimum = search.minimise(line, -infinity, infinity, 1e9);
        const auto objective_at = [&](double step, double tolerance) {
            std::vector<double> moved = weights;
            add_scaled(moved.data(), step, direction.data(), stride);
            return objective_of(samples, moved, bias + step * bias_direction, tolerance);
        };
        CHECK_NEAR(objective_at(minimum.step, 1e-7), minimum.objective, 1e-9 + 1e-6 * minimum.objective);
        for (int point = 0; point < 200; ++point) {
            CHECK(objective_at(6 * random.normal(), 0) >= minimum.objective * (1 - 1e-9) - 1e-12);
        }
    }
}

TEST(no_offset_and_scale_are_better_than_those_found) {
    Random random(22);
    for (int trial = 0; trial < 500; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const std::vector<double> direction = random_direction(random, samples);
        OffsetSearch search(samples);
        const OffsetSearch::Optimum optimum = search.minimise(direction, [] { return false; });
        CHECK_NEAR(objective_of(samples, optimum.hyperplane.weights, optimum.hyperplane.bias, 1e-9),
                   optimum.objective, 1e-9 * optimum.objective);
        for (int point = 0; point < 200; ++point) {
            std::vector<double> weights(samples.stride());
            add_scaled(weights.data(), std::pow(10.0, 4 * random.uniform() - 2), direction.data(),
                       samples.stride());
            CHECK(objective_of(samples, weights, 3 * random.normal(), 0) >= optimum.objective * (1 - 1e-9));
        }
    }
}

TEST(a_hinge_loss_machine_separates_what_is_easy_to_separate) {
    const std::vector<double> features = {0.0, 1.0, 3.0, 4.0};
    const std::vector<double> labels = {-1.0, -1.0, 1.0, 1.0};
    const std::vector<double> limits(4, 1.0);
    const Samples samples(features, labels, limits);
    HingeLoss hinge(samples);
    Random random(1);
    const Hyperplane& hyperplane = hinge.solve(limits, 100, random, [] { return false; });
    std::vector<double> margins(samples.padded_count());
    samples.margins(hyperplane.weights.data(), hyperplane.bias, margins.data());
    for (std::size_t i = 0; i < samples.count(); ++i) {
        CHECK(margins[i] > 0);
    }
}

TEST(bounds_and_objectives_enclose_the_optimum) {
    Random random(23);
    int reached = 0;
    constexpr int trials = 600;
    for (int trial = 0; trial < trials; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 12, 3);
        const Samples samples = problem.samples();
        const double optimum = testing::exhaustive_optimum(problem);
        Control control(1e6, {});
        PrimalSearch search(samples, 0);
        search.start(control, generous());
        search.walk(control, generous());
        const double objective = search.best().objective;
        CHECK(objective >= optimum * (1 - 1e-7));
        reached += objective <= optimum * (1 + 1e-7) ? 1 : 0;
        // From the objective found, from a worse one and from the worst: the bound never passes the optimum.
        for (const double factor : {1.0, 1.1, 10.0}) {
            CHECK(conflict_bound(samples, factor * objective, 1e-9, control) <= optimum * (1 + 1e-7));
        }
    }
    // A heuristic may miss an optimum; on problems this small it should not.
    CHECK(reached >= trials - 2);
}

TEST(the_same_seed_gives_the_same_search) {
    Random random(24);
    const testing::RandomProblem problem = testing::random_problem(random, 30, 4);
    const Samples samples = problem.samples();
    std::vector<std::vector<double>> weights;
    for (int repeat = 0; repeat < 2; ++repeat) {
        Control control(1e6, {});
        PrimalSearch search(samples, 5);
        search.start(control, generous());
        search.walk(control, generous());
        weights.push_back(search.best().weights);
    }
    CHECK(weights[0] == weights[1]);
}

TEST(an_offered_hyperplane_is_taken_up) {
    const std::vector<double> features = {0.0, 1.0, 3.0, 4.0};
    const std::vector<double> labels = {-1.0, -1.0, 1.0, 1.0};
    const std::vector<double> costs(4, 10.0);
    const Samples samples(features, labels, costs);
    Control control(1e6, {});
    PrimalSearch search(samples, 0);
    search.offer(control, generous(), {{2.0, 0.0, 0.0, 0.0}, -4.0});
    CHECK_NEAR(search.best().objective, 0.5, 1e-9);
}

TEST(a_search_stops_when_it_is_told_to) {
    Random random(25);
    const testing::RandomProblem problem = testing::random_problem(random, 40, 4);
    const Samples samples = problem.samples();
    int calls = 0;
    Control control(1e6, [&calls](const Progress&) { return ++calls < 3; });
    PrimalSearch search(samples, 0);
    const PrimalSearch::Budget endless{std::uint64_t{1} << 62, std::uint64_t{1} << 62, 0.0, 0.0};
    search.start(control, endless);
    search.walk(control, endless);
    CHECK(control.interrupted());
    CHECK(std::isfinite(search.best().objective));
}

TEST(without_any_time_there_is_still_a_hyperplane) {
    Random random(26);
    constexpr std::size_t count = 20000;
    std::vector<double> features(count * 8);
    std::vector<double> labels(count);
    for (double& value : features) {
        value = random.normal();
    }
    for (double& label : labels) {
        label = random.uniform() < 0.3 ? 1.0 : -1.0;
    }
    const Samples samples(features, labels, std::vector<double>(count, 1.0));
    Control no_time(0.0, {});
    PrimalSearch hurried(samples, 0);
    const PrimalSearch::Budget endless{std::uint64_t{1} << 62, std::uint64_t{1} << 62, 0.0, 0.0};
    hurried.start(no_time, endless);
    hurried.walk(no_time, endless);
    CHECK(no_time.timed_out());
    CHECK(hurried.best().objective == static_cast<double>(std::count(labels.begin(), labels.end(), 1.0)));
    CHECK(conflict_bound(samples, hurried.best().objective, 1e-6, no_time) == 0);
}
