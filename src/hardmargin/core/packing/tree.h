// Depth-first search below one subproblem: bound, choose a sample, give it up, later keep it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/samples.h"
#include "packing/node.h"
#include "packing/state.h"

namespace hardmargin {

class PackingTree {
public:
    using Node = PackingNode;
    using Options = PackingOptions;

    PackingTree(const Samples& samples, const PackingOptions& options, ImproveFunction improve);

    // See PackingState::set_region().
    void set_region(const std::vector<ExtraRow>& rows) { state_.set_region(rows); }

    // Searches below `root` for at most `node_limit` subproblems, or until `stop` says so, or `pause` between two
    // of them, and returns what is left open, deepest last. Nothing left: no solution below `root` is better than
    // the incumbent by the gap.
    std::vector<PackingNode> search(const PackingNode& root, double upper, std::uint64_t node_limit,
                                    const std::function<bool()>& stop, const std::function<bool()>& pause = never);

    double upper() const { return state_.upper(); }
    std::uint64_t nodes() const { return nodes_; }
    std::uint64_t work() const { return state_.work(); }
    // Takes the subproblems without free samples that rounding has kept from being closed; searching on is no use.
    std::vector<PackingNode> take_stuck() { return std::exchange(stuck_, {}); }

private:
    // A branch that waits: the subproblem before the decision, and the sample that will be kept.
    struct Waiting {
        PackingState::Snapshot snapshot;
        std::size_t sample = 0;
        double bound = 0;
    };

    // A subtree for which it was decided whether to use the cover bound.
    struct Episode {
        CoverChoice::Decision decision;
        std::size_t depth = 0;  // waiting branches above it
        std::uint64_t work_at_start = 0;
    };

    // The sample to branch on; none if all are decided. If the cover bound was used, the free sample that it gives up
    // most of; otherwise the member with the largest multiplier in the smallest packed set.
    std::optional<std::size_t> branching_sample() const;
    std::optional<std::size_t> heaviest_of_smallest_set() const;
    std::optional<std::size_t> largest_of_cover() const;
    Waiting& push();
    // Goes to the last waiting branch; false if there is none.
    bool backtrack();
    std::vector<PackingNode> open_nodes();
    bool searches_without_cover() const;
    void begin_episode();
    // The subtrees that begin below so many waiting branches are closed.
    void close_episodes(std::size_t depth);
    void end_last_episode(bool closed);
    // Ends a subtree that is searched without the cover bound for too long.
    void lose_patience();

    const Samples& samples_;
    PackingOptions options_;
    PackingState state_;
    std::vector<Waiting> waiting_;  // capacity is kept: snapshots are large
    std::size_t depth_ = 0;
    std::vector<Episode> episodes_;  // from the root down; only the last one may do without the cover bound
    double current_bound_ = 0;
    std::uint64_t nodes_ = 0;
    std::vector<PackingNode> stuck_;
};

}  // namespace hardmargin
