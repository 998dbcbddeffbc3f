// Where the cover bound pays, learnt from the work that subtrees take with and without it.
//
// The cover bound is dear, and saves subproblems: with many features by orders of magnitude, with few of them less
// than it costs, and near the leaves less than near the root. How near is measured by the distance of a
// subproblem's bound to the objective, in samples. The policy is one number: from this distance on the bound is
// used, below it the rest of the subtree is searched without.
//
// At the distances next to this number both ways are tried, the unfavoured one with a share of the work, and each
// is rated by the work it takes to close a subtree: all of the work, of those that were not finished too, by the
// number of those that were. The number moves to where the unfavoured way has proven better. Ratings forget what is
// long past, because the best policy changes with the objective and with the depth.
//
// Everything is counted in multiply-adds and happens in the order in which it is asked for, so one thread does the
// same every time. Several threads may share an object.
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
        // The subtree is better searched the other way after so much work.
        std::uint64_t most_work = 0;
    };

    // For a subtree whose root is this many samples away from the objective.
    Decision decide(double distance);
    // What came of it: the work of the subtree, and whether it is closed.
    void note(const Decision& decision, std::uint64_t work, bool closed);

    // From this distance on the cover bound is used.
    std::size_t threshold() const;

    static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

private:
    // Distances from this one on are treated alike.
    static constexpr std::size_t largest_distance = 63;
    // Distances at which both ways are tried, below and from the threshold on. More above: nearest to the leaves
    // there is little to gain by either way.
    static constexpr std::size_t tried_below = 1;
    static constexpr std::size_t tried_above = 3;

    struct Record {
        double work = 0;
        double closed = 0;

        // The work to close a subtree; if none was closed yet, the next one is taken to need all of it once more.
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
