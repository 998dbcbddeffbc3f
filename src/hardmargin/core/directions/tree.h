// Depth-first search below one region of directions: bound, try to close, split.
//
// The bound of a region is half the smallest squared length in it plus the cost of a cover of its conflicting pairs
// (directions/closure.h). It is exact in the limit. Two things close regions long before that. A better solution
// has 1/2 ||w||^2 < upper - cover, which reduces the greatest length, which creates conflicts, and so on. And if
// the bound is nearly sufficient, most samples are decided (directions/region_closing.h).
//
// If a budget limits the total that may be given up (packing/budget.h), the objective is the norm term alone.
// Better solutions are then among those of the usual problem that cost less than upper + total, and their norm term
// is below upper. If every sample costs more than upper, a cover beyond the budget closes a region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/hyperplane.h"
#include "base/objective.h"
#include "base/samples.h"
#include "directions/closure.h"
#include "directions/flow.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/node.h"
#include "directions/pair_conflicts.h"
#include "directions/region_closing.h"
#include "directions/region_packing.h"
#include "directions/region_packing_choice.h"
#include "directions/trace.h"
#include "packing/budget.h"
#include "packing/tree.h"
#include "primal/offset_search.h"
#include "qp/max_margin.h"
#include "tree/subproblem.h"

namespace hardmargin {

struct DirectionOptions {
    // Only solutions better than the incumbent by this share are searched for.
    double gap = 1e-6;
    // What is minimised; by default the objective at the C of the samples.
    Objective objective{};
    // The middle of the face that is searched first.
    std::vector<double> first_axis;
    // The feature whose axis it replaces; see DirectionFrame.
    std::size_t mirrored = 0;
    // Bytes that the pairs of the regions on the path from the root of a slice to the current one may use. The
    // current region, and at least one split, need more in any case.
    std::size_t path_memory = 1ull << 30;
    // The node limit of the search over samples in a region that is too small to split.
    std::uint64_t sample_nodes = 2000;
    // A limit on what may be given up in total, or none. Regions close early if every sample costs more than
    // `upper`.
    Budget budget = {};
    // Where a record is written for every region that is searched; none if no proof is wanted.
    std::shared_ptr<ProofSink> proof = nullptr;
};

template <typename PairCover>
class DirectionTree {
public:
    using Node = DirectionNode;
    using Options = DirectionOptions;

    DirectionTree(const Samples& samples, const DirectionOptions& options, ImproveFunction improve);
    DirectionTree(const DirectionTree&) = delete;
    DirectionTree& operator=(const DirectionTree&) = delete;

    // Searches the region `root` until `node_limit` parts, until `stop` returns true, or until `pause` does between
    // two parts. Returns what is left open; if that is empty, no solution in `root` is better than the incumbent by
    // the gap.
    std::vector<DirectionNode> search(const DirectionNode& root, double upper, std::uint64_t node_limit,
                                      const std::function<bool()>& stop,
                                      const std::function<bool()>& pause = never);

    static Incumbent evaluated(const Samples& samples, const DirectionOptions& options, const MaxMargin& solver) {
        return evaluate(samples, options.budget, solver);
    }

    std::uint64_t nodes() const { return nodes_; }
    std::uint64_t work() const;
    // Returns, once, the regions that neither splitting nor a search over samples could close.
    std::vector<DirectionNode> take_stuck() { return std::exchange(stuck_, {}); }

private:
    // The result of a slice.
    struct Slice {
        std::vector<DirectionNode> open;
        std::vector<DirectionNode> stuck;
        double closed_share = 0;  // of the slice's region; each part of a split counts as half
        std::uint64_t work = 0;
        std::vector<std::uint8_t> record;  // of a proof
    };

    Slice search_slice(const DirectionNode& root, std::uint64_t node_limit, const std::function<bool()>& stop,
                       const std::function<bool()>& pause, bool packing);
    // Searches both ways and returns the better result.
    Slice compare_ways(const DirectionNode& root, std::uint64_t node_limit, const std::function<bool()>& stop,
                       const std::function<bool()>& pause);

    // A region on the path from the root of the search, and its half that is still to be searched.
    struct PathRegion {
        DirectionNode region;
        DirectionNode waiting;
        bool has_waiting = false;
        PairConflicts::Level pairs;
        typename PairCover::State cover;
        RegionSets sets;
    };

    double effective_upper() const { return upper_ * (1 - options_.gap); }
    Cutoff cutoff() const { return {options_.objective, effective_upper(), options_.budget.credit()}; }
    double norm_at_least(const DirectionNode& region) const;
    Verdict bound(PathRegion& current, const PathRegion& around, const std::function<bool()>& stop);
    // Whether pairs of the region are worth comparing again with this smaller greatest length.
    bool affects_pairs(const DirectionNode& region, double longest) const;
    // Enlarges the cover, first together with the sets known from the enclosing region; whether it costs `needed`,
    // with or without them.
    bool grow_cover(PathRegion& current, const PathRegion& around, double needed);
    Verdict close(PathRegion& current, const PathRegion& around, bool packing);
    void try_middle(const DirectionNode& region);
    Verdict search_over_samples(const DirectionNode& region, const std::function<bool()>& stop);
    // The coordinate that affects pairs most, and by how much they differ between its ends.
    struct Coordinate {
        std::size_t number;
        double effect;
    };
    Coordinate widest(const DirectionNode& region) const;
    bool split(const DirectionNode& region, DirectionNode& first, DirectionNode& second) const;
    std::vector<DirectionNode> open_nodes(std::size_t depth);
    // Numbers an open region, if a record is written.
    void write_open(DirectionNode& node);
    std::size_t memory_of(const PathRegion& current) const;
    PathRegion& path_at(std::size_t depth);

    const Samples& samples_;
    DirectionOptions options_;
    ImproveFunction improve_;
    DirectionFrame frame_;
    PairConflicts pairs_;
    PairCover cover_;
    MaxMargin solver_;
    OffsetSearch offset_search_;
    RegionClosing<PairCover> closing_;
    double narrow_;
    PackingTree sample_tree_;
    std::vector<PathRegion> path_;  // by depth; storage is reused
    double upper_ = 0;
    std::uint64_t nodes_ = 0;
    RegionPackingChoice packing_choice_;
    std::vector<DirectionNode> stuck_;
    std::unique_ptr<RegionTrace> trace_;
};

extern template class DirectionTree<ConflictMatching>;
extern template class DirectionTree<ConflictFlow>;

}  // namespace hardmargin
