#include <vector>

#include "base/hyperplane.h"
#include "base/samples.h"
#include "check.h"

using namespace hardmargin;

namespace {

// Positions 0, 2 and 4 on a line.
Samples three_samples(const std::vector<double>& costs) {
    const std::vector<double> features = {0.0, 2.0, 4.0};
    const std::vector<double> labels = {-1.0, 1.0, 1.0};
    return Samples(features, labels, costs);
}

}  // namespace

TEST(a_kept_sample_just_short_of_its_margin_scales_the_hyperplane_up) {
    const Samples samples = three_samples({1.0, 10.0, 100.0});
    const std::vector<double> weights = {1.0, 0.0, 0.0, 0.0};
    const std::vector<double> margins = {kept_margin, kept_margin - 1e-8, 3.0};
    const Violations violated = violations(samples, margins);
    CHECK(violated.cost == 10);
    CHECK(violated.smallest_kept_margin == kept_margin);
    const Incumbent found = evaluate(samples, weights, -1.0, margins);
    CHECK(found.objective == violated.objective(0.5));
    CHECK(found.objective > 10.5);
    CHECK(found.weights == std::vector<double>{1 / kept_margin});
    CHECK(found.bias == -1 / kept_margin);
}

TEST(the_cheaper_class_is_given_up) {
    const Incumbent positives_kept = give_up_cheaper_class(three_samples({2.0, 1.0, 3.0}));
    CHECK(positives_kept.weights == std::vector<double>{0.0});
    CHECK(positives_kept.bias == 1);
    CHECK(positives_kept.objective == 2);
    const Incumbent negatives_kept = give_up_cheaper_class(three_samples({5.0, 1.0, 3.0}));
    CHECK(negatives_kept.bias == -1);
    CHECK(negatives_kept.objective == 4);
}
