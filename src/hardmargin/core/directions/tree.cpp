#include "directions/tree.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/hyperplane.h"
#include "base/rounding.h"

namespace hardmargin {

namespace {

// A smaller greatest length is worth comparing pairs again if it affects them by at least this share of what
// splitting a coordinate changes, and by this share of what they need. A fall by the last share always counts: one
// coordinate may vary far more than the others, and then the effect of splitting it says nothing about them.
constexpr double least_share_of_split = 0.05;
constexpr double least_share_of_needed = 0.002;
constexpr double large_share_of_length = 0.1;
// Lengths are split if that affects pairs this many times more than splitting a coordinate.
constexpr double length_reluctance = 2.5;
// A region with least length 0 is split where that affects pairs by at least this share of what they need.
constexpr double least_length_change = 0.1;
// A region is too small to split if no split affects a pair by more than a share of what pairs need. The more pairs
// there are, the closer they lie together, so the smaller this share; but single precision limits it.
constexpr double narrow_few = 1e-5;
constexpr double narrow_many = 2e-7;
constexpr double narrow_pairs = 10;
// Without sets, a slice may have this many times as many regions as with them, if both are searched.
constexpr std::uint64_t most_times_regions = 8;

double narrowest(const Samples& samples) {
    const auto count = static_cast<double>(samples.count());
    return std::clamp(narrow_pairs / (count * count), narrow_many, narrow_few);
}

}  // namespace

template <typename PairCover>
DirectionTree<PairCover>::DirectionTree(const Samples& samples, const DirectionOptions& options,
                                        ImproveFunction improve)
    : samples_(samples),
      options_(options),
      improve_(std::move(improve)),
      frame_(samples, options.first_axis, options.mirrored),
      pairs_(samples, frame_),
      cover_(samples, pairs_),
      solver_(samples),
      offset_search_(samples),
      closing_(samples, frame_, pairs_, cover_, solver_,
               [this](const MaxMargin& solver) { upper_ = improve_(solver); }),
      narrow_(narrowest(samples)),
      sample_tree_(samples,
                   {.gap = options.gap,
                    .objective = options.objective,
                    .cover_distance = PackingState::no_cover,
                    .budget = options.budget,
                    .traces = options.proof != nullptr},
                   improve_) {
    assert(options.budget.limits_all() || !options.budget.limits_any());
    if (options.proof) {
        trace_ = std::make_unique<RegionTrace>(samples, frame_, pairs_);
        closing_.set_trace(trace_.get());
    }
}

template <typename PairCover>
std::uint64_t DirectionTree<PairCover>::work() const {
    return pairs_.work() + cover_.work() + solver_.work() + offset_search_.work() + sample_tree_.work();
}

template <typename PairCover>
typename DirectionTree<PairCover>::PathRegion& DirectionTree<PairCover>::path_at(std::size_t depth) {
    while (path_.size() <= depth) {
        path_.emplace_back();
    }
    return path_[depth];
}

template <typename PairCover>
std::vector<DirectionNode> DirectionTree<PairCover>::search(const DirectionNode& root, double upper,
                                                            std::uint64_t node_limit,
                                                            const std::function<bool()>& stop,
                                                            const std::function<bool()>& pause) {
    assert(root.fits(samples_.dimension()));
    upper_ = upper;
    solver_.set_stop(stop);
    cover_.set_stop(stop);
    pairs_.arrange(root);
    const bool compares = PairCover::equal_costs && packing_choice_.compares();
    Slice slice = compares ? compare_ways(root, node_limit, stop, pause)
                           : search_slice(root, node_limit, stop, pause, packing_choice_.packs());
    std::move(slice.stuck.begin(), slice.stuck.end(), std::back_inserter(stuck_));
    if (trace_) {
        options_.proof->write(slice.record);
    }
    return std::move(slice.open);
}

template <typename PairCover>
typename DirectionTree<PairCover>::Slice DirectionTree<PairCover>::compare_ways(
    const DirectionNode& root, std::uint64_t node_limit, const std::function<bool()>& stop,
    const std::function<bool()>& pause) {
    // Regions with sets take longer. Both ways get the same work, because hardly any share is closed at first.
    Slice with = search_slice(root, node_limit, stop, pause, true);
    if (stop() || pause()) {
        return with;
    }
    const std::uint64_t most_work = work() + with.work;
    const std::uint64_t most_regions =
        most_times_regions * std::min(node_limit, std::numeric_limits<std::uint64_t>::max() / most_times_regions);
    Slice without = search_slice(root, most_regions, stop, [&] { return pause() || work() >= most_work; }, false);
    if (!stop() && !pause()) {
        packing_choice_.observe(without.closed_share, static_cast<double>(without.work), with.closed_share,
                                static_cast<double>(with.work));
    }
    return with.closed_share >= without.closed_share ? with : without;
}

template <typename PairCover>
typename DirectionTree<PairCover>::Slice DirectionTree<PairCover>::search_slice(const DirectionNode& root,
                                                                                std::uint64_t node_limit,
                                                                                const std::function<bool()>& stop,
                                                                                const std::function<bool()>& pause,
                                                                                bool packing) {
    Slice slice;
    const std::uint64_t work_before = work();
    const auto end = [&](std::vector<DirectionNode> open) {
        slice.open = std::move(open);
        slice.work = work() - work_before;
        if (trace_) {
            if (!trace_->valid()) {
                options_.proof->invalidate();
            }
            slice.record.assign(trace_->record().bytes().begin(), trace_->record().bytes().end());
        }
        return std::move(slice);
    };
    if (trace_) {
        trace_->expect(cutoff().needed(0));
        trace_->begin(root);
    }
    // Depth 0 stands for what encloses the root: nothing is known there.
    PathRegion& outside = path_at(0);
    pairs_.start(outside.pairs);
    cover_.start(outside.cover);
    outside.sets.clear();
    outside.has_waiting = false;
    std::size_t depth = 1;
    std::size_t path_memory = memory_of(outside);
    path_at(depth).region = root;
    for (std::uint64_t count = 0;; ++count) {
        if (count == node_limit || stop() || (count > 0 && (pause() || path_memory > options_.path_memory))) {
            return end(open_nodes(depth));
        }
        ++nodes_;
        path_at(depth + 1);
        PathRegion& current = path_[depth];
        current.has_waiting = false;
        if (trace_) {
            trace_->enter(depth, current.region);
        }
        Verdict verdict = bound(current, path_[depth - 1], stop);
        if (verdict == Verdict::open && stop()) {
            return end(open_nodes(depth));
        }
        if (verdict == Verdict::open) {
            verdict = close(current, path_[depth - 1], packing);
        }
        if (verdict == Verdict::open) {
            if (split(current.region, path_[depth + 1].region, current.waiting)) {
                current.has_waiting = true;
                path_memory += memory_of(current);
                ++depth;
                continue;
            }
            try_middle(current.region);
            if (search_over_samples(current.region, stop) == Verdict::open) {
                if (stop()) {
                    return end(open_nodes(depth));
                }
                current.region.upper = effective_upper();
                slice.stuck.push_back(current.region);
                write_open(slice.stuck.back());
            } else {
                verdict = Verdict::closed;
                if (trace_) {
                    trace_->close_by_samples(sample_tree_.record());
                }
            }
        }
        if (verdict == Verdict::closed) {
            slice.closed_share += std::ldexp(1.0, 1 - static_cast<int>(depth));
        }
        for (--depth; depth > 0 && !path_[depth].has_waiting; --depth) {
            path_memory -= memory_of(path_[depth]);
        }
        if (depth == 0) {
            return end({});
        }
        path_[depth].has_waiting = false;
        path_[depth + 1].region = path_[depth].waiting;
        ++depth;
    }
}

template <typename PairCover>
std::size_t DirectionTree<PairCover>::memory_of(const PathRegion& current) const {
    return current.pairs.size_in_memory();
}

template <typename PairCover>
std::vector<DirectionNode> DirectionTree<PairCover>::open_nodes(std::size_t depth) {
    std::vector<DirectionNode> open;
    for (std::size_t k = 1; k < depth; ++k) {
        if (path_[k].has_waiting) {
            open.push_back(path_[k].waiting);
        }
    }
    open.push_back(path_[depth].region);
    // Deepest first, as a record has them.
    for (std::size_t k = open.size(); k-- > 0;) {
        open[k].upper = effective_upper();
        write_open(open[k]);
    }
    return open;
}

template <typename PairCover>
void DirectionTree<PairCover>::write_open(DirectionNode& node) {
    if (trace_) {
        node.proof = options_.proof->new_number();
        trace_->open(node.proof, node);
    }
}

template <typename PairCover>
double DirectionTree<PairCover>::norm_at_least(const DirectionNode& region) const {
    return safely_below(0.5 * region.shortest * region.shortest);
}

template <typename PairCover>
Verdict DirectionTree<PairCover>::bound(PathRegion& current, const PathRegion& around,
                                        const std::function<bool()>& stop) {
    DirectionNode& region = current.region;
    const double norm = norm_at_least(region);
    const double needed = cutoff().needed(norm);
    const auto closed = [&] {
        if (trace_) {
            trace_->close();
        }
        return Verdict::closed;
    };
    if (cutoff().room(0) <= norm) {
        return closed();
    }
    current.cover = around.cover;
    pairs_.decide(region, around.pairs, current.pairs, stop);
    for (;;) {
        const bool enough = grow_cover(current, around, needed);
        if (trace_) {
            trace_->cover(region, current.cover);
        }
        if (enough) {
            return closed();
        }
        const double covered = cover_.cost(current.cover) * (1 - cover_.rounding(current.cover));
        const double longest = std::sqrt(2 * cutoff().room(covered)) * (1 + least_rounding);
        if (longest <= region.shortest) {
            return closed();
        }
        if (!affects_pairs(region, longest) || stop()) {
            region.bound = std::max(region.bound, cutoff().value(norm, covered));
            return Verdict::open;
        }
        region.longest = longest;
        pairs_.shorten(region, current.pairs, stop);
    }
}

template <typename PairCover>
bool DirectionTree<PairCover>::affects_pairs(const DirectionNode& region, double longest) const {
    const double needed = 2 * region.least_length() / region.longest;
    const double change = needed * (region.longest / longest - 1);
    return longest <= (1 - large_share_of_length) * region.longest ||
           change >= std::max(least_share_of_split * widest(region).effect, least_share_of_needed * needed);
}

template <typename PairCover>
bool DirectionTree<PairCover>::grow_cover(PathRegion& current, const PathRegion& around, double needed) {
    if constexpr (PairCover::equal_costs) {
        // Sets with a matched sample add nothing to the matching.
        const auto known = static_cast<std::size_t>(
            std::count_if(around.sets.sets.begin(), around.sets.sets.end(), [&](const MustHitSet& set) {
                return std::none_of(set.begin(), set.end(),
                                    [&](std::uint32_t sample) { return cover_.matched(current.cover, sample); });
            }));
        if (known > 0) {
            const double enough = needed * (1 + least_rounding) - cover_.cost_of(known);
            cover_.grow(current.pairs, current.cover, enough, around.sets.sets);
            if (safely_below(cover_.cost_of(current.cover.size + known)) >= needed) {
                return true;
            }
        }
    }
    cover_.grow(current.pairs, current.cover, needed * (1 + cover_.rounding(current.cover)));
    return cover_.cost(current.cover) * (1 - cover_.rounding(current.cover)) >= needed;
}

template <typename PairCover>
Verdict DirectionTree<PairCover>::close(PathRegion& current, const PathRegion& around, bool packing) {
    DirectionNode& region = current.region;
    double norm = norm_at_least(region);
    if (closing_.closes(region, current.pairs, current.cover, norm, cutoff(), packing, around.sets, current.sets)) {
        return Verdict::closed;
    }
    // A better solution gives up what the cover and the sets cost, which limits its length.
    double given_up = cover_.cost(current.cover) * (1 - cover_.rounding(current.cover));
    if constexpr (PairCover::equal_costs) {
        given_up = safely_below(cover_.cost_of(current.cover.size + current.sets.sets.size()));
    }
    region.bound = std::max(region.bound, cutoff().value(norm, given_up));
    const double room = cutoff().room(given_up);
    region.longest = std::min(region.longest, std::sqrt(2 * std::max(0.0, room)) * (1 + least_rounding));
    if (trace_) {
        trace_->cover(region, current.cover);
    }
    if (region.longest <= region.shortest) {
        if (trace_) {
            trace_->close();
        }
        return Verdict::closed;
    }
    return Verdict::open;
}

// Solves the max-margin problem for the samples that the best hyperplane along the region's middle keeps.
template <typename PairCover>
void DirectionTree<PairCover>::try_middle(const DirectionNode& region) {
    std::vector<double> direction(samples_.stride());
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        add_scaled(direction.data(), 0.5 * (region.low[k] + region.high[k]), frame_.axis(k), samples_.stride());
    }
    const OffsetSearch::Optimum found = offset_search_.minimise(direction);
    if (options_.objective.is_plain() && !(found.objective < upper_ + options_.budget.credit())) {
        return;
    }
    std::vector<double> margins(samples_.padded_count());
    samples_.margins(found.hyperplane.weights.data(), found.hyperplane.bias, margins.data());
    solver_.clear();
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (margins[i] >= kept_margin) {
            solver_.enable(i);
        }
    }
    if (solver_.solve() == MaxMarginStatus::optimal) {
        upper_ = improve_(solver_);
    }
}

// Few solutions meet in a region this small. They differ in the samples that they give up.
template <typename PairCover>
Verdict DirectionTree<PairCover>::search_over_samples(const DirectionNode& region,
                                                      const std::function<bool()>& stop) {
    sample_tree_.set_region(frame_.rows(region));
    const std::vector<PackingNode> open =
        sample_tree_.search({{}, {}, region.bound, upper_}, upper_, options_.sample_nodes, stop);
    const bool stuck = !sample_tree_.take_stuck().empty();
    upper_ = sample_tree_.upper();
    return open.empty() && !stuck ? Verdict::closed : Verdict::open;
}

template <typename PairCover>
typename DirectionTree<PairCover>::Coordinate DirectionTree<PairCover>::widest(const DirectionNode& region) const {
    Coordinate found = {0, -1};
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        const double effect = (region.high[k] - region.low[k]) * pairs_.typical_difference(k);
        if (k != region.face && effect > found.effect) {
            found = {k, effect};
        }
    }
    return found;
}

// Splits the coordinate that affects pairs most, or the lengths if they affect them more.
template <typename PairCover>
bool DirectionTree<PairCover>::split(const DirectionNode& region, DirectionNode& first,
                                     DirectionNode& second) const {
    const auto [widest_coordinate, widest_effect] = widest(region);
    const double least = region.least_length();
    const double needed_longest = 2 * least / region.longest;
    const double needed_shortest =
        region.shortest > 0 ? 2 * least / region.shortest : std::numeric_limits<double>::infinity();
    const double length_effect = needed_shortest - needed_longest;
    if (std::max(length_effect, widest_effect) < narrow_ * needed_longest) {
        return false;
    }
    first = region;
    second = region;
    if (length_effect > length_reluctance * widest_effect) {
        const double middle =
            region.shortest > 0 ? 2 / (1 / region.shortest + 1 / region.longest)
                                : 1 / (1 / region.longest +
                                       0.5 * std::max(widest_effect, least_length_change * needed_longest) / least);
        first.shortest = middle;
        second.longest = middle;
        if (!(middle > region.shortest && middle < region.longest)) {
            return false;
        }
        if (trace_) {
            trace_->split_lengths(middle);
        }
        return true;
    }
    const double middle = 0.5 * (region.low[widest_coordinate] + region.high[widest_coordinate]);
    if (middle <= region.low[widest_coordinate] || middle >= region.high[widest_coordinate]) {
        return false;
    }
    const bool low_first = std::fabs(region.low[widest_coordinate]) < std::fabs(region.high[widest_coordinate]);
    if (trace_) {
        trace_->split(widest_coordinate, low_first);
    }
    (low_first ? first : second).high[widest_coordinate] = middle;
    (low_first ? second : first).low[widest_coordinate] = middle;
    return true;
}

template class DirectionTree<ConflictMatching>;
template class DirectionTree<ConflictFlow>;

}  // namespace hardmargin
