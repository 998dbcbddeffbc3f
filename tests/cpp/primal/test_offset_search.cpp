#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/kernels.h"
#include "base/random.h"
#include "check.h"
#include "primal/hyperplanes.h"
#include "primal/offset_search.h"
#include "random_problems.h"

using namespace hardmargin;
using testing::objective_of;
using testing::random_direction;

namespace {

struct Projected {
    std::vector<double> projections;
    std::vector<double> labels;
    std::vector<double> costs;

    ProjectionSearch::Optimum optimum(double norm_squared) const {
        return ProjectionSearch().minimise(projections, labels, costs, norm_squared);
    }

    double objective_at(double scale, double bias, double norm_squared) const {
        double objective = 0.5 * scale * scale * norm_squared;
        for (std::size_t i = 0; i < projections.size(); ++i) {
            objective += labels[i] * (scale * projections[i] + bias) < 1 - 1e-9 ? costs[i] : 0.0;
        }
        return objective;
    }
};

// Overlapping classes; with `steps` > 0, projections are multiples of 1 / steps, so that many coincide.
Projected overlapping(Random& random, std::size_t count, double positive_share, double steps, bool equal_costs) {
    Projected made;
    for (std::size_t i = 0; i < count; ++i) {
        const double label = random.uniform() < positive_share ? 1.0 : -1.0;
        const double position = label + random.normal();
        made.projections.push_back(steps > 0 ? std::round(steps * position) / steps : position);
        made.labels.push_back(label);
        made.costs.push_back(equal_costs ? 1.0 : 3 * random.uniform());
    }
    return made;
}

// All pairs (h, u), each with what is lost beyond them.
double least_over_all_pairs(const Projected& data, double norm_squared) {
    struct End {
        double position;
        double cost;
        double lost;
    };
    std::vector<End> sides[2];
    for (std::size_t i = 0; i < data.projections.size(); ++i) {
        sides[data.labels[i] > 0].push_back({data.projections[i], data.costs[i], 0});
    }
    double least = std::numeric_limits<double>::infinity();
    for (int side = 0; side < 2; ++side) {
        const double sign = side == 0 ? -1 : 1;
        std::sort(sides[side].begin(), sides[side].end(),
                  [&](const End& left, const End& right) { return sign * left.position < sign * right.position; });
        double lost = 0;
        for (End& end : sides[side]) {
            end.lost = lost;
            lost += end.cost;
        }
        least = std::min(least, lost);
    }
    for (const End& negative : sides[0]) {
        for (const End& positive : sides[1]) {
            if (positive.position > negative.position) {
                const double width = positive.position - negative.position;
                least = std::min(least, 2 * norm_squared / (width * width) + negative.lost + positive.lost);
            }
        }
    }
    return least;
}

}  // namespace

TEST(no_offset_and_scale_are_better_than_those_found) {
    Random random(22);
    for (int trial = 0; trial < 500; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 4);
        const Samples samples = problem.samples();
        const std::vector<double> direction = random_direction(random, samples);
        OffsetSearch search(samples);
        const OffsetSearch::Optimum optimum = search.minimise(direction);
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

TEST(divide_and_conquer_finds_the_best_pair) {
    Random random(23);
    // More pairs than are scanned.
    constexpr std::size_t count = 2600;
    for (const double positive_share : {0.5, 0.3}) {
        for (const double steps : {0.0, 10.0}) {
            for (const bool equal_costs : {true, false}) {
                const Projected data = overlapping(random, count, positive_share, steps, equal_costs);
                for (const double norm_squared : {1e-9, 1e-3, 1.0, 1e3, 1e9}) {
                    const ProjectionSearch::Optimum found = data.optimum(norm_squared);
                    CHECK_NEAR(found.objective, least_over_all_pairs(data, norm_squared), 1e-9 * found.objective);
                    CHECK_NEAR(data.objective_at(found.scale, found.bias, norm_squared), found.objective,
                               1e-9 * found.objective);
                }
            }
        }
    }
}

TEST(the_order_of_the_samples_does_not_matter) {
    Random random(24);
    // Many samples, in orders that have some at regular places: those are all that a coarse pass may look at.
    for (const std::size_t period : {2, 3, 31, 32, 62}) {
        Projected data = overlapping(random, 3100, 0.5, 0.0, false);
        for (std::size_t i = 0; i < data.projections.size(); i += period) {
            data.projections[i] = period % 2 == 0 ? -data.projections[i] : 3 * data.labels[i];
        }
        for (const double norm_squared : {1e-3, 1.0, 1e3}) {
            const ProjectionSearch::Optimum found = data.optimum(norm_squared);
            CHECK_NEAR(found.objective, least_over_all_pairs(data, norm_squared), 1e-9 * found.objective);
            CHECK_NEAR(data.objective_at(found.scale, found.bias, norm_squared), found.objective,
                       1e-9 * found.objective);
        }
    }
}

TEST(separated_classes_need_no_violation) {
    Projected data;
    for (int i = 0; i < 1500; ++i) {
        for (const double label : {-1.0, 1.0}) {
            data.projections.push_back(label * (1 + i % 7));
            data.labels.push_back(label);
            data.costs.push_back(10.0);
        }
    }
    const ProjectionSearch::Optimum found = data.optimum(1.0);
    CHECK_NEAR(found.objective, 0.5, 1e-12);
    CHECK_NEAR(found.scale, 1.0, 1e-12);
    CHECK_NEAR(found.bias, 0.0, 1e-12);
}

TEST(with_one_class_or_one_position_nothing_is_to_be_separated) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{5}, std::size_t{4000}}) {
        for (const double label : {-1.0, 1.0}) {
            const Projected data{std::vector<double>(count, 2.0), std::vector<double>(count, label),
                                 std::vector<double>(count, 1.0)};
            const ProjectionSearch::Optimum found = data.optimum(1.0);
            CHECK(found.objective == 0 && found.scale == 0);
            CHECK(count == 0 || found.bias == label);
        }
        Projected mixed{std::vector<double>(count, 2.0), {}, std::vector<double>(count, 1.0)};
        for (std::size_t i = 0; i < count; ++i) {
            mixed.labels.push_back(i % 2 == 0 ? 1.0 : -1.0);
        }
        const ProjectionSearch::Optimum found = mixed.optimum(1.0);
        CHECK(found.objective == static_cast<double>(count / 2) && found.scale == 0);
    }
}

TEST(projections_out_of_range_give_up_the_cheaper_class) {
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const Projected data{{0.0, 1.0, value}, {-1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
        const ProjectionSearch::Optimum found = data.optimum(1.0);
        CHECK(found.objective == 1 && found.scale == 0 && found.bias == 1);
    }
}
