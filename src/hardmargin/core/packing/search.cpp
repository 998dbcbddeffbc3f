#include "packing/search.h"

#include <memory>
#include <utility>

namespace hardmargin {

PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const SearchLimits& limits, Control& control) {
    PackingOptions shared = options;
    if (shared.uses_cover() && !shared.knowledge) {
        // Its threads learn from each other.
        shared.knowledge = std::make_shared<PackingKnowledge>(samples);
    }
    return TreeSearch<PackingTree>(samples, std::move(frontier), Incumbent{{}, 0, upper}, shared, limits, control)
        .run();
}

}  // namespace hardmargin
