#include <vector>

#include "base/random.h"
#include "base/samples.h"
#include "check.h"
#include "primal/hinge.h"

using namespace hardmargin;

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

TEST(a_pass_over_many_samples_can_be_stopped) {
    constexpr std::size_t count = 4500;
    constexpr std::size_t dimension = 512;
    Random random(2);
    std::vector<double> features(count * dimension);
    for (double& feature : features) {
        feature = random.normal();
    }
    std::vector<double> labels(count);
    for (std::size_t i = 0; i < count; ++i) {
        labels[i] = i % 2 == 0 ? 1.0 : -1.0;
    }
    const std::vector<double> limits(count, 1.0);
    const Samples samples(features, labels, limits);
    HingeLoss hinge(samples);
    int calls = 0;
    hinge.solve(limits, 1, random, [&calls] { return ++calls == 1; });
    // Not again at the end of the pass, because there is none.
    CHECK(calls == 1);
    const std::uint64_t whole_pass = 2 * count * samples.stride();
    CHECK(hinge.work() <= whole_pass);
}
