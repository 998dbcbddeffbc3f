#include <limits>
#include <vector>

#include "base/kernels.h"
#include "base/random.h"
#include "check.h"
#include "primal/hyperplanes.h"
#include "primal/line_search.h"
#include "random_problems.h"

using namespace hardmargin;
using testing::objective_of;
using testing::random_direction;

TEST(no_step_on_a_line_is_better_than_the_minimum_found) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
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
        LineSearch search(samples.costs());
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

TEST(ties_and_weights_on_a_line_are_counted) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // Margins 1 - step, 1 - step and step - 1: step 0 keeps the first two, step 2 the third one, no step all.
    const std::vector<double> margins = {1.0, 1.0, -1.0};
    const std::vector<double> slopes = {-1.0, -1.0, 1.0};
    const auto least = [&](const std::vector<double>& costs) {
        LineSearch search(costs);
        return search.minimise({margins, slopes, 1.0, 0.0, 1.0}, -infinity, infinity, 1e9);
    };
    const LineMinimum light = least({1.0, 1.0, 3.0});
    CHECK(light.step == 0);
    CHECK_NEAR(light.objective, 0.5 + 3.0, 1e-12);
    const LineMinimum heavy = least({1.0, 1.0, 30.0});
    CHECK(heavy.step == 2);
    CHECK_NEAR(heavy.objective, 0.5 * (1 + 4) + 2.0, 1e-12);
}

TEST(a_line_without_samples_ends_at_its_lowest_norm) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    LineSearch search({});
    const LineMinimum minimum = search.minimise({{}, {}, 4.0, -2.0, 1.0}, -infinity, infinity, 1e9);
    CHECK_NEAR(minimum.step, 2.0, 1e-12);
    CHECK_NEAR(minimum.objective, 0.0, 1e-12);
}
