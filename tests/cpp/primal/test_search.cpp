#include <algorithm>
#include <cmath>
#include <vector>

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
    CHECK(root_bound(samples, hurried.best().objective, 1e-6, no_time) == 0);
}
