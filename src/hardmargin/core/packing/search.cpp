#include "packing/search.h"

#include <memory>
#include <stdexcept>
#include <utility>

namespace hardmargin {

std::vector<PackingNode> packing_root(std::size_t count, std::vector<std::uint32_t> kept,
                                      std::vector<std::uint32_t> given_up, double bound, double upper) {
    std::vector<unsigned char> decided(count);
    for (const std::vector<std::uint32_t>& samples : {kept, given_up}) {
        for (const std::uint32_t sample : samples) {
            if (sample >= count || decided[sample]) {
                throw std::invalid_argument("root: samples must exist and be decided once");
            }
            decided[sample] = 1;
        }
    }
    return {{std::move(kept), std::move(given_up), bound, upper}};
}

PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const SearchLimits& limits, Control& control) {
    PackingOptions shared = options;
    if (shared.uses_cover() && !shared.knowledge) {
        // Shared by the threads.
        shared.knowledge = std::make_shared<PackingKnowledge>(samples, shared.proof != nullptr);
    }
    return TreeSearch<PackingTree>(samples, std::move(frontier), Incumbent{{}, 0, upper}, shared, limits, control)
        .run();
}

}  // namespace hardmargin
