// Decides where to use the cover bound, from the observed work of subtrees with and without it.
//
// The cover bound is expensive, and saves subproblems: orders of magnitude of them with many features, too few with
// few features, and fewer near the leaves than near the root. The distance of a subproblem's bound to the
// objective, in samples, measures how near the leaves are. The policy is one number, the threshold: from this
// distance on the bound is used; below it the rest of the subtree is searched without it.
//
// At distances next to the threshold both ways are tried, the unfavoured one with a small share of the work. Each
// way is rated by its total work, including unfinished subtrees, divided by the number of subtrees closed. The
// threshold moves where the unfavoured way has proven better. Old observations are gradually forgotten, because the
// best policy changes with the objective and the depth.
//
// Raising the threshold takes clear evidence, lowering it takes hardly any. If it is too low, some work is lost. If
// it is too high, the way back may be hidden: where few subtrees use the cover bound, few sets are known, and the
// bound is weaker and takes more work than it would with more of them.
//
// Work is counted in multiply-adds, so a search on one thread is repeatable. Several threads may share an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace hardmargin {

class CoverChoice {
public:
    enum class Way : unsigned char { with_cover, without_cover };

    // What was decided for a subtree.
    struct Decision {
        Way way = Way::with_cover;
        std::size_t distance = 0;  // in whole samples
        // After this much work the subtree should be searched the other way.
        std::uint64_t most_work = 0;
    };

    // For a subtree whose root is this many samples away from the objective.
    Decision decide(double distance);
    // The outcome: the work of the subtree, and whether it was closed.
    void note(const Decision& decision, std::uint64_t work, bool closed);

    // The cover bound is used from this distance on.
    std::size_t threshold() const;

    static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

private:
    // All larger distances are treated alike.
    static constexpr std::size_t largest_distance = 63;
    // How many distances below the threshold, and from it on, both ways are tried. Near the leaves there is little
    // to gain either way, so a larger range above is needed to move the threshold up.
    static constexpr std::size_t tried_below = 1;
    static constexpr std::size_t tried_above = 3;

    struct Record {
        double work = 0;
        double closed = 0;

        // The work per closed subtree. If none was closed yet, assume that the first one needs as much work again.
        double rating() const { return closed > 0 ? work / closed : 2 * work; }
    };

    struct Records {
        Record with_cover;
        Record without_cover;
    };

    Record& record(Way way, std::size_t distance) {
        return way == Way::with_cover ? records_[distance].with_cover : records_[distance].without_cover;
    }
    Way favoured(std::size_t distance) const {
        return distance >= threshold_ ? Way::with_cover : Way::without_cover;
    }
    bool is_tried(std::size_t distance) const {
        return distance + tried_below >= threshold_ && distance < threshold_ + tried_above;
    }
    // Moves the threshold if the unfavoured way at this distance has proven better.
    void reconsider(std::size_t distance);

    mutable std::mutex mutex_;
    std::array<Records, largest_distance + 1> records_{};
    std::size_t threshold_ = 0;
};

}  // namespace hardmargin
