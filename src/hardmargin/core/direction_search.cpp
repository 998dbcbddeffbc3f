#include "direction_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hardmargin {

namespace {

// Giving the cheaper class up, with w = 0: regions around it close only against this or something better.
Incumbent give_up_a_class(const Samples& samples) {
    double costs[2] = {0, 0};
    for (std::size_t i = 0; i < samples.count(); ++i) {
        costs[samples.label(i) > 0] += samples.cost(i);
    }
    const bool keep_positives = costs[1] >= costs[0];
    return {std::vector<double>(samples.dimension()), keep_positives ? 1.0 : -1.0, std::min(costs[0], costs[1])};
}

template <typename Cover>
DirectionOutcome search(const Samples& samples, std::vector<DirectionNode> frontier, Incumbent known,
                        const DirectionOptions& options, const SearchLimits& limits, Control& control) {
    using Search = TreeSearch<DirectionTree<Cover>>;
    return Search(samples, std::move(frontier), std::move(known), options, limits, control).run();
}

}  // namespace

DirectionOutcome direction_search(const Samples& samples, std::vector<DirectionNode> frontier, double upper,
                                  const DirectionOptions& options, const SearchLimits& limits, Control& control) {
    Incumbent known = give_up_a_class(samples);
    if (known.objective >= upper) {
        known = {{}, 0, upper};
    }
    if (known.objective <= 0) {
        return {std::move(known), 0, 0, 0, 0, true, {}};
    }
    if (frontier.empty()) {
        const double longest = std::sqrt(2 * known.objective) * (1 + 1e-9);
        frontier = DirectionFrame(samples, options.first_axis, options.mirrored).whole(longest, known.objective);
    }
    return (samples.common_cost() > 0
                ? search<ConflictMatching>
                : search<ConflictFlow>)(samples, std::move(frontier), std::move(known), options, limits, control);
}

}  // namespace hardmargin
