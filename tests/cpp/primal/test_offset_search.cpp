#include <cmath>
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
