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
