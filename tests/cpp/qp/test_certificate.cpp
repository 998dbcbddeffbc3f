#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "qp/certificate.h"
#include "random_problems.h"

using namespace hardmargin;

TEST(two_samples_certify_their_distance) {
    const std::vector<double> features = {0.0, 4.0};
    const std::vector<double> labels = {-1.0, 1.0};
    const std::vector<double> costs = {1.0, 1.0};
    const Samples samples(features, labels, costs);
    const std::vector<Multiplier> multipliers = {{0, 0.125}, {1, 0.125}};
    const double value = certified_value(samples, {}, multipliers);
    CHECK(value <= 0.125);
    CHECK_NEAR(value, 0.125, 1e-12);
}

TEST(unbalanced_multipliers_are_balanced_or_claim_nothing) {
    const std::vector<double> features = {0.0, 4.0, 5.0};
    const std::vector<double> labels = {-1.0, 1.0, 1.0};
    const std::vector<double> costs = {1.0, 1.0, 1.0};
    const Samples samples(features, labels, costs);
    // A bias satisfies both positives at no cost.
    CHECK(certified_value(samples, {}, std::vector<Multiplier>{{1, 1.0}, {2, 1.0}}) == 0);
    // The first one is raised to 1.
    CHECK_NEAR(certified_value(samples, {}, std::vector<Multiplier>{{0, 0.25}, {1, 1.0}}), 0.125, 1e-9);
    CHECK(certified_value(samples, {}, std::vector<Multiplier>{{0, -1.0}, {1, 1.0}}) == 0);
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    CHECK(certified_value(samples, {}, std::vector<Multiplier>{{0, not_a_number}, {1, 1.0}}) == 0);
    CHECK(certified_value(samples, {}, {}) == 0);
}

TEST(extra_rows_take_part) {
    const std::vector<double> features = {0.0, 4.0};
    const std::vector<double> labels = {-1.0, 1.0};
    const std::vector<double> costs = {1.0, 1.0};
    const Samples samples(features, labels, costs);
    const std::vector<ExtraRow> rows = {{{1.0, 0.0, 0.0, 0.0}, 3.0}};
    const double value = certified_value(samples, rows, std::vector<Multiplier>{{4, 1.0}});
    CHECK(value <= 4.5);
    CHECK_NEAR(value, 4.5, 1e-10);
}

// For any multipliers, the claim must not exceed the optimum over the samples that have one.
TEST(arbitrary_multipliers_never_claim_too_much) {
    Random random(7);
    for (int trial = 0; trial < 3000; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 6, 3);
        const Samples samples = problem.samples();
        std::vector<Multiplier> multipliers;
        std::vector<bool> kept(problem.count);
        for (std::size_t i = 0; i < problem.count; ++i) {
            if (random.uniform() < 0.7) {
                kept[i] = true;
                multipliers.push_back({i, std::pow(10.0, 6 * random.uniform() - 3)});
            }
        }
        const double value = certified_value(samples, {}, multipliers);
        CHECK(value <= testing::exhaustive_margin_value(problem, kept) * (1 + 1e-7));
    }
}
