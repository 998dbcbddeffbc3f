#include "packing_search.h"

#include <utility>

namespace hardmargin {

PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const SearchLimits& limits, Control& control) {
    return TreeSearch<PackingTree>(samples, std::move(frontier), Incumbent{{}, 0, upper}, options, limits, control)
        .run();
}

}  // namespace hardmargin
