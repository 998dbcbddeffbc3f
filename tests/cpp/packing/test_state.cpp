#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/samples.h"
#include "check.h"
#include "packing/knowledge.h"
#include "packing/state.h"

using namespace hardmargin;

namespace {

// Two samples on a line, 2 apart: w = 1 keeps both.
Samples two_samples() {
    return Samples(std::vector<double>{-1.0, 1.0}, std::vector<double>{-1.0, 1.0}, std::vector<double>{10.0, 10.0});
}

// w <= 1/2.
ExtraRow short_weights(const Samples& samples) {
    ExtraRow row{std::vector<double>(samples.stride()), -0.5};
    row.normal[0] = -1;
    return row;
}

double no_improvement(const MaxMargin&) {
    return 20;
}

}  // namespace

TEST(a_region_is_refused_together_with_the_cover_bound) {
    const Samples samples = two_samples();
    PackingOptions options;
    options.knowledge = std::make_shared<PackingKnowledge>(samples);
    CHECK(options.uses_cover());
    PackingState state(samples, options, no_improvement);
    bool refused = false;
    try {
        state.set_region({short_weights(samples)});
    } catch (const std::logic_error&) {
        refused = true;
    }
    CHECK(refused);
}

TEST(in_a_region_only_its_hyperplanes_count) {
    const Samples samples = two_samples();
    PackingState state(samples, {.cover_distance = PackingState::no_cover}, no_improvement);
    const PackingNode all_kept{{0, 1}, {}, 0, 20};
    state.load(all_kept, 20);
    CHECK(state.tighten() == Verdict::open);
    state.set_region({short_weights(samples)});
    state.load(all_kept, 20);
    CHECK(state.tighten() == Verdict::closed);
}
