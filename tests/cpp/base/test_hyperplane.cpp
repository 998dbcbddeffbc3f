#include <limits>
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

TEST(a_hyperplane_is_moved_within_the_bounds_on_its_weights) {
    const std::vector<double> features = {0.0, 2.0, 4.0};
    const std::vector<double> labels = {-1.0, 1.0, 1.0};
    const std::vector<double> costs = {1.0, 10.0, 100.0};
    constexpr double open = std::numeric_limits<double>::infinity();
    const auto evaluated = [&](const Samples& samples, double weight) {
        const std::vector<double> weights = {weight, 0.0, 0.0, 0.0};
        std::vector<double> margins(samples.padded_count());
        samples.margins(weights.data(), -1.0, margins.data());
        return evaluate(samples, weights, -1.0, margins);
    };
    const Samples bounded(features, labels, costs, open, {{-open}, {0.5}});
    CHECK(evaluated(bounded, 1.0).weights == std::vector<double>{0.5});
    CHECK(evaluated(bounded, 1.0).objective == 0.125 + 10);
    // Scaling it up by 5e-10 is within the tolerance.
    const Samples short_of_one(features, labels, costs, open, {{-open}, {1 - 5e-10 / 2}});
    CHECK_NEAR(evaluated(short_of_one, 1.0).objective, 0.5, 1e-9);
    CHECK(short_of_one.within_bounds(evaluated(short_of_one, 1.0).weights));
    const Samples excluding_zero(features, labels, costs, open, {{3.0}, {open}});
    const Incumbent flat = give_up_cheaper_class(excluding_zero);
    CHECK(flat.weights == std::vector<double>{3.0});
    CHECK(flat.objective == 4.5 + 1);
}

TEST(samples_that_cost_as_much_as_the_incumbent_are_certain) {
    const std::vector<double> features = {0.0, 2.0, 4.0};
    const std::vector<double> labels = {-1.0, 1.0, 1.0};
    const std::vector<double> costs = {1.0, 10.0, 1.0};
    CHECK(Samples(features, labels, costs).common_cost() == 0);
    const Samples samples(features, labels, costs, 10.0);
    CHECK(samples.certain(1) && !samples.certain(0));
    CHECK(samples.common_cost() == 1);
    CHECK(samples.typical_cost() == 1);
    const Samples all_certain(features, labels, costs, 0.5);
    CHECK(all_certain.common_cost() == 0);
    CHECK(all_certain.typical_cost() == 4);
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
