// Depth-first search below one subproblem: bound, choose a sample, give it up, later keep it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

    PackingTree(const Samples& samples, const PackingOptions& options, PackingState::Improve improve);

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
        std::size_t inverse_memory = 0;  // see Snapshot::inverse_memory()
    };

    // A subtree for which it was decided whether to use the cover bound.
    struct Episode {
        CoverChoice::Decision decision;
        std::size_t depth = 0;  // waiting branches above it
        std::uint64_t work_at_start = 0;
    };

    struct Choice {
        std::size_t sample;
        bool decided;  // one branch was found closed, and the other one has been taken
        bool closed;   // both were, or there is nothing to choose
    };

    Choice choose();
    std::vector<std::size_t> candidates() const;
    std::vector<std::size_t> candidates_of_cover() const;
    std::size_t any_free_sample() const;
    Waiting& push();
    // Saves the present subproblem there, with the inverse of its basis if that is not too much memory.
    void save(Waiting& waiting);
    // Forgets what was saved there for the cover bound.
    void release(Waiting& waiting);
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
    PackingState::Snapshot before_choice_;
    std::vector<Waiting> waiting_;  // capacity is kept: snapshots are large
    std::size_t depth_ = 0;
    std::size_t inverse_memory_ = 0;  // of the branches that wait
    std::vector<Episode> episodes_;   // from the root down; only the last one may do without the cover bound
    double current_bound_ = 0;
    std::uint64_t nodes_ = 0;
    std::vector<PackingNode> stuck_;
    std::function<bool()> stop_;
};

}  // namespace hardmargin
