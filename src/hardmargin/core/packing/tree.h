// Depth-first search below one subproblem: bound, branch on a sample, give it up first and keep it later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/hyperplane.h"
#include "base/samples.h"
#include "packing/budget.h"
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

    // Searches below `root` until `node_limit` subproblems, until `stop` returns true, or until `pause` does
    // between two subproblems. Returns what is left open, deepest last; if that is empty, no solution below `root`
    // is better than the incumbent by the gap.
    std::vector<PackingNode> search(const PackingNode& root, double upper, std::uint64_t node_limit,
                                    const std::function<bool()>& stop, const std::function<bool()>& pause = never);

    static Incumbent evaluated(const Samples& samples, const PackingOptions& options, const MaxMargin& solver) {
        return evaluate(samples, options.budget, solver);
    }

    double upper() const { return state_.upper(); }
    std::uint64_t nodes() const { return nodes_; }
    std::uint64_t work() const { return state_.work(); }
    // Returns, once, the subproblems without free samples that could not be closed because of rounding.
    std::vector<PackingNode> take_stuck() { return std::exchange(stuck_, {}); }
    // How the last search closed its root; only if the options ask for records.
    const ProofRecord& record() { return state_.trace()->record(); }

private:
    // A postponed branch: the subproblem before the decision, and the sample to keep.
    struct Waiting {
        PackingState::Snapshot snapshot;
        std::size_t sample = 0;
        double bound = 0;
        PackingTrace::Mark mark;
        std::size_t inverse_memory = 0;  // see Snapshot::inverse_memory()
    };

    // A subtree with a decision on whether to use the cover bound.
    struct Episode {
        CoverChoice::Decision decision;
        std::size_t depth = 0;  // waiting branches above it
        std::uint64_t work_at_start = 0;
    };

    // The sample to branch on; none if all are decided. If the cover bound was used, the free sample with the
    // largest value in it; otherwise the member with the largest multiplier of the smallest packed set.
    std::optional<std::size_t> branching_sample() const;
    std::optional<std::size_t> heaviest_of_smallest_set() const;
    std::optional<std::size_t> largest_of_cover() const;
    Waiting& push();
    // Saves the present subproblem there, with the inverse of its basis unless that takes too much memory.
    void save(Waiting& waiting);
    // Forgets the basis that was saved there.
    void release(Waiting& waiting);
    // Continues with the last waiting branch; false if that is closed.
    bool backtrack();
    std::vector<PackingNode> open_nodes();
    // Numbers an open subproblem, if a record is written.
    void write_open(PackingNode& node);
    // Hands the record over.
    void write_record();
    bool searches_without_cover() const;
    void begin_episode();
    // Ends the episodes that start below this many waiting branches: their subtrees are closed.
    void close_episodes(std::size_t depth);
    void end_last_episode(bool closed);
    // Ends an episode without the cover bound that takes too long.
    void lose_patience();

    const Samples& samples_;
    PackingOptions options_;
    PackingState state_;
    std::vector<Waiting> waiting_;  // capacity is reused: snapshots are large
    std::size_t depth_ = 0;
    std::size_t inverse_memory_ = 0;  // of the waiting branches
    std::vector<Episode> episodes_;   // from the root down; only the last one may be without the cover bound
    double current_bound_ = 0;
    std::uint64_t nodes_ = 0;
    std::vector<PackingNode> stuck_;
};

}  // namespace hardmargin
