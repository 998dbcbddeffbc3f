#include "directions/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/hyperplane.h"

namespace hardmargin {

namespace {

// Samples are copied only if their number grows by no more than this factor.
constexpr double most_copies = 1.25;
// The relative error up to which a cost counts as a multiple of another one.
constexpr double multiple_rounding = 1e-13;
// The greatest length of the root is increased by this share.
constexpr double length_rounding = 1e-9;

// Copies samples that cost a small multiple of the others, as merged duplicates do, so that all costs are equal.
// Returns nothing if there would be too many samples, or if costs are not multiples. Certain samples keep their
// cost. With equal costs regions are bounded faster and closed earlier.
std::optional<Samples> samples_of_equal_cost(const Samples& samples) {
    const std::vector<std::size_t> copies = direction_copies(samples.costs(), samples.upper());
    if (copies.empty()) {
        return std::nullopt;
    }
    const double unit = *std::min_element(samples.costs().begin(), samples.costs().end());
    std::vector<double> features;
    std::vector<double> labels;
    std::vector<double> costs;
    for (std::size_t i = 0; i < samples.count(); ++i) {
        labels.resize(labels.size() + copies[i], samples.label(i));
        costs.resize(labels.size(), samples.certain(i) ? samples.cost(i) : unit);
        while (features.size() < labels.size() * samples.dimension()) {
            for (std::size_t k = 0; k < samples.dimension(); ++k) {
                features.push_back(samples.label(i) * samples.row(i)[k]);
            }
        }
    }
    return Samples(features, labels, costs, samples.upper(), samples.weight_bounds());
}

// The better one of `upper`, without weights, and giving up the cheaper class, which no budget that needs a search
// allows.
Incumbent best_known(const Samples& samples, double upper, const DirectionOptions& options) {
    Incumbent flat = give_up_cheaper_class(samples);
    flat.objective = value_of(options.objective, flat);
    return flat.objective >= upper || options.budget.limits_any() ? Incumbent{{}, 0, upper} : flat;
}

template <typename PairCover>
DirectionOutcome search(const Samples& samples, std::vector<DirectionNode> frontier, Incumbent known,
                        const DirectionOptions& options, const SearchLimits& limits, Control& control) {
    using Search = TreeSearch<DirectionTree<PairCover>>;
    return Search(samples, std::move(frontier), std::move(known), options, limits, control).run();
}

}  // namespace

std::vector<std::size_t> direction_copies(std::span<const double> costs, double upper) {
    if (costs.empty()) {
        return {};
    }
    const double unit = *std::min_element(costs.begin(), costs.end());
    const auto certain = [upper](double cost) { return cost >= upper; };
    if (certain(unit) ||
        std::all_of(costs.begin(), costs.end(), [&](double cost) { return cost == unit || certain(cost); })) {
        return {};
    }
    std::vector<std::size_t> copies;
    double total = 0;
    for (const double cost : costs) {
        const double count = certain(cost) ? 1.0 : std::round(cost / unit);
        total += count;
        if (!(certain(cost) || std::fabs(count * unit - cost) <= multiple_rounding * cost) ||
            total > most_copies * static_cast<double>(costs.size())) {
            return {};
        }
        copies.push_back(static_cast<std::size_t>(count));
    }
    return copies;
}

std::vector<DirectionNode> direction_root(const Samples& samples, double upper, const DirectionOptions& options) {
    const double objective = best_known(samples, upper, options).objective;
    const double longest =
        std::sqrt(2 * std::max(options.objective.room(objective, 0), 0.0)) * (1 + length_rounding);
    return DirectionFrame(samples, options.first_axis, options.mirrored).whole(longest, objective);
}

DirectionOutcome direction_search(const Samples& samples, std::vector<DirectionNode> frontier, double upper,
                                  const DirectionOptions& options, const SearchLimits& limits, Control& control) {
    require_open(frontier);
    Incumbent known = best_known(samples, upper, options);
    if (known.objective <= 0) {
        return {std::move(known), 0, 0, 0, 0, true, {}};
    }
    if (samples.common_cost() > 0) {
        return search<ConflictMatching>(samples, std::move(frontier), std::move(known), options, limits, control);
    }
    const std::optional<Samples> equal = samples_of_equal_cost(samples);
    return equal ? search<ConflictMatching>(*equal, std::move(frontier), std::move(known), options, limits, control)
                 : search<ConflictFlow>(samples, std::move(frontier), std::move(known), options, limits, control);
}

}  // namespace hardmargin
