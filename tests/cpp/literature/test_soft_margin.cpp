#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/control.h"
#include "base/kernels.h"
#include "base/random.h"
#include "check.h"
#include "literature/soft_margin.h"
#include "random_problems.h"

using namespace hardmargin;
using namespace hardmargin::testing;

TEST(the_hinge_loss_ends_when_it_is_stopped) {
    Random random(6);
    const RandomProblem problem = random_problem(random, 10, 3);
    Control control(0.0, {});
    const Hyperplane plane = soft_margin(problem.samples(), 1e-9, control);
    CHECK(std::all_of(plane.weights.begin(), plane.weights.end(), [](double weight) { return weight == 0; }));
}

TEST(the_hinge_loss_has_no_smaller_value_nearby) {
    Random random(7);
    for (int round = 0; round < 200; ++round) {
        const RandomProblem problem = random_problem(random, 12, 3);
        const Samples samples = problem.samples();
        Control control(1e6, {});
        const Hyperplane plane = soft_margin(samples, 1e-10, control);
        const auto loss = [&](const std::vector<double>& weights, double bias) {
            double sum = 0.5 * dot(weights.data(), weights.data(), samples.stride());
            for (std::size_t i = 0; i < samples.count(); ++i) {
                const double margin =
                    dot(samples.row(i), weights.data(), samples.stride()) + samples.label(i) * bias;
                sum += samples.cost(i) * std::max(0.0, 1 - margin);
            }
            return sum;
        };
        const double best = loss(plane.weights, plane.bias);
        for (int move = 0; move < 30; ++move) {
            const double size = std::pow(10.0, -3.0 * random.uniform()) / std::max(1e-3, samples.largest_norm());
            std::vector<double> weights = plane.weights;
            for (std::size_t k = 0; k < samples.dimension(); ++k) {
                weights[k] += size * random.normal();
            }
            CHECK(loss(weights, plane.bias + 0.1 * random.normal()) >= best * (1 - 1e-7));
        }
    }
}
