// The cover of conflicting pairs where all samples cost the same: a maximum matching (directions/closure.h).
//
// Beside a matching there may be must-hit sets (directions/region_packing.h), which count like matched pairs: if a
// solution gives up no more samples than there are pairs and sets, it gives up exactly one of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rounding.h"
#include "base/samples.h"
#include "directions/closure.h"
#include "directions/pair_conflicts.h"

namespace hardmargin {

class ConflictMatching {
public:
    static constexpr bool equal_costs = true;
    // The partner of a sample without one; all others are not negative.
    static constexpr std::int32_t unmatched = -1;

    struct State {
        std::vector<std::int32_t> partner_of_positive;  // or `unmatched`
        std::vector<std::int32_t> partner_of_negative;
        std::size_t size = 0;
    };

    // The samples must have a common cost above zero.
    ConflictMatching(const Samples& samples, const PairConflicts& pairs);

    void start(State& state) const;
    double cost(const State& state) const { return cost_of(state.size); }
    // The share of its cost by which that may be wrong: it is one product.
    double rounding(const State&) const { return sum_rounding(1); }
    double cost_of(std::size_t count) const { return cost_ * static_cast<double>(count); }
    // How many samples more than there are pairs cost `needed` without doubt; 0: the pairs do.
    std::size_t missing(const State& state, double needed) const;
    bool matched(const State& state, std::size_t sample) const {
        return (samples_.label(sample) > 0 ? state.partner_of_positive
                                           : state.partner_of_negative)[pairs_.number(sample)] >= 0;
    }
    // Enlarges the matching until it costs `enough` or cannot grow, and leaves the samples of `beside` unmatched.
    void grow(const PairConflicts::Level& level, State& state, double enough,
              std::span<const MustHitSet> beside = {});
    void close(const PairConflicts::Level& level, const State& state, double slack, ConflictClosure& closure);

    // Rearranges a matching so that a sample is unmatched, and those of `beside` still are; false if that takes a
    // pair away.
    bool release(const PairConflicts::Level& level, State& state, std::size_t sample,
                 std::span<const MustHitSet> beside = {});
    // What follows for solutions that give up exactly one sample of every matched pair and of every set, those of
    // `given_up`, which must be in neither, and no other, and that keep `kept`. No sample of a set may be matched.
    void close_exactly(const PairConflicts::Level& level, const State& state, std::span<const MustHitSet> sets,
                       std::span<const std::size_t> given_up, std::span<const std::size_t> kept,
                       ConflictClosure& closure);
    // Rearranges a matching, which keeps its size: of pairs whose margins are both missed, one sample becomes
    // unmatched, and one that keeps its margin and is in no set is matched in its place. Returns how often that was
    // possible.
    std::size_t exchange(const PairConflicts::Level& level, State& state, std::span<const MustHitSet> sets,
                         std::span<const double> margins);
    std::uint64_t work() const { return work_; }

private:
    // A positive of an alternating path, the word of its row to look at next, and the negative taken from there.
    struct Step {
        std::size_t positive;
        std::size_t place;
        std::size_t negative;
    };

    // An alternating path from an unmatched positive over unvisited negatives to one of those that are unmatched.
    bool augment(std::size_t start, const PairConflicts::Level& level, State& state);
    // The same, to a negative of `targets`, whose positive becomes unmatched.
    bool replace(std::size_t start, const PairConflicts::Level& level, State& state,
                 std::vector<std::uint64_t>& targets);
    template <typename FindEnd>
    bool follow_path(std::size_t start, const PairConflicts::Level& level, State& state, const FindEnd& find_end);
    bool find_free(const std::uint64_t* row, const State& state, std::size_t& negative);
    void unvisit_all();
    // Marks the positives of these sets in left_out_, and only their negatives as visited.
    void leave_out(std::span<const MustHitSet> sets);
    // Whether the rule for sets added anything to a closure.
    bool propagate_sets(std::span<const MustHitSet> sets, ConflictClosure& closure) const;
    void keep_unmatched(const State& state, ConflictClosure& closure) const;
    void propagate(const PairConflicts::Level& level, const State& state, ConflictClosure& closure);

    const Samples& samples_;
    const PairConflicts& pairs_;
    double cost_;
    std::vector<std::uint64_t> unvisited_;
    std::vector<unsigned char> left_out_;  // by positives
    std::vector<Step> path_;
    std::vector<std::size_t> pending_;
    std::uint64_t work_ = 0;
};

}  // namespace hardmargin
