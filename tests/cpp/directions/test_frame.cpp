#include <cmath>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "directions/frame.h"
#include "directions/regions.h"
#include "random_problems.h"

using namespace hardmargin;
using testing::random_region;

TEST(the_rows_of_a_region_hold_in_it) {
    Random random(83);
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 10, 5);
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        const DirectionNode region = random_region(random, samples.dimension());
        const std::vector<ExtraRow> rows = frame.rows(region);
        CHECK(rows.size() == 2 * samples.dimension());
        for (int draw = 0; draw < 20; ++draw) {
            // Corners and extreme lengths as often as interior points.
            const auto between = [&](double low, double high) {
                const double share = random.below(2) == 0 ? random.uniform() : static_cast<double>(random.below(2));
                return low + share * (high - low);
            };
            std::vector<double> w;
            double squared = 0;
            for (std::size_t k = 0; k < samples.dimension(); ++k) {
                w.push_back(between(region.low[k], region.high[k]));
                squared += w[k] * w[k];
            }
            const double factor = between(region.shortest, region.longest) / std::sqrt(squared);
            for (const ExtraRow& row : rows) {
                double value = 0;
                for (std::size_t k = 0; k < samples.dimension(); ++k) {
                    value += factor * w[k] * row.normal[k];
                }
                CHECK(value >= row.bound - 1e-13 * region.longest);
            }
        }
    }
}
