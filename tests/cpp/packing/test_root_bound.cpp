// The first lower bound, from the objectives that the primal search finds.
#include "base/control.h"
#include "base/random.h"
#include "check.h"
#include "packing/root_bound.h"
#include "primal/search.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

PrimalSearch::Budget generous() {
    return {200'000'000, 3, 0.0, 0.0};
}

}  // namespace

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
        // The bound never exceeds the optimum, from the objective found or from worse ones.
        for (const double factor : {1.0, 1.1, 10.0}) {
            CHECK(root_bound(samples, factor * objective, 1e-9, control) <= optimum * (1 + 1e-7));
        }
    }
    // A heuristic may miss an optimum; on problems this small it should not.
    CHECK(reached >= trials - 2);
}
