// The cover of conflicting pairs if all samples cost the same: a maximum matching (directions/closure.h).
//
// In addition to a matching there may be must-hit sets (directions/region_packing.h), which count like matched
// pairs: a solution that gives up no more samples than there are pairs and sets gives up exactly one of each.
//
// Certain samples (base/samples.h) are never given up, so a cover consists of the others. One certain sample may
// therefore be matched with any number of opponents, each of which has to be given up. It counts as unmatched, that
// is, as kept: only its opponents know it as their partner. Two certain samples that conflict leave no solution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/control.h"
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
        // The samples without a partner, as bits.
        std::vector<std::uint64_t> free_positives;
        std::vector<std::uint64_t> free_negatives;
        std::size_t size = 0;
        bool impossible = false;  // two certain samples conflict
        PairEdge certain_pair{};  // these
    };

    // The samples that are not certain must have a common cost above zero.
    ConflictMatching(const Samples& samples, const PairConflicts& pairs);

    void start(State& state);
    double cost(const State& state) const {
        return state.impossible ? std::numeric_limits<double>::infinity() : cost_of(state.size);
    }
    // A bound on the relative error of the cost, which is one product.
    double rounding(const State&) const { return sum_rounding(1); }
    double cost_of(std::size_t count) const { return cost_ * static_cast<double>(count); }
    // How many samples in addition to the pairs are needed to cost `needed`, rounding included.
    std::size_t missing(const State& state, double needed) const;
    bool matched(const State& state, std::size_t sample) const {
        return (samples_.label(sample) > 0 ? state.partner_of_positive
                                           : state.partner_of_negative)[pairs_.number(sample)] >= 0;
    }
    // `stop` is called while a matching of many samples grows; if it returns true, the matching is left as it is.
    void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }
    // Enlarges the matching until it costs `enough` or cannot grow. The samples of `sets` stay unmatched.
    void grow(const PairConflicts::Level& level, State& state, double enough,
              std::span<const MustHitSet> sets = {});
    void close(const PairConflicts::Level& level, const State& state, double slack, ConflictClosure& closure);

    // Rearranges the matching so that a sample becomes unmatched and those of `sets` stay so; false if that costs a
    // pair.
    bool release(const PairConflicts::Level& level, State& state, std::size_t sample,
                 std::span<const MustHitSet> sets = {});
    // What follows for solutions that keep `kept` and give up exactly one sample of every matched pair and every
    // set, the samples of `given_up`, which must be in no pair and no set, and no others. No sample of a set may be
    // matched.
    void close_exactly(const PairConflicts::Level& level, const State& state, std::span<const MustHitSet> sets,
                       std::span<const std::size_t> given_up, std::span<const std::size_t> kept,
                       ConflictClosure& closure);
    // Rearranges the matching without changing its size: of a pair of which neither sample is kept by these
    // margins, one becomes unmatched, and a kept sample that is in no set is matched instead. Returns how often
    // that was possible.
    std::size_t exchange(const PairConflicts::Level& level, State& state, std::span<const MustHitSet> sets,
                         std::span<const double> margins);
    std::uint64_t work() const { return work_; }

private:
    // A positive of an alternating path, the next word of its row, and the negative that the path continues with.
    struct Step {
        std::size_t positive;
        std::size_t place;
        std::size_t negative;
    };

    // Finds an alternating path from an unmatched positive over unvisited negatives to an unmatched one.
    bool augment(std::size_t start, const PairConflicts::Level& level, State& state);
    // The same to a negative of `targets`, whose positive becomes unmatched.
    bool replace(std::size_t start, const PairConflicts::Level& level, State& state,
                 std::vector<std::uint64_t>& targets);
    template <typename FindEnd>
    bool follow_path(std::size_t start, const PairConflicts::Level& level, State& state, const FindEnd& find_end);
    // Makes a positive and a negative partners.
    void join(State& state, std::size_t positive, std::size_t negative) const {
        if (!is_set(certain_negatives_.data(), negative)) {
            state.partner_of_negative[negative] = static_cast<std::int32_t>(positive);
            unset_bit(state.free_negatives.data(), negative);
        }
        if (certain_positives_[positive] == 0) {
            state.partner_of_positive[positive] = static_cast<std::int32_t>(negative);
            unset_bit(state.free_positives.data(), positive);
        }
    }
    static void free_positive(State& state, std::size_t positive) {
        state.partner_of_positive[positive] = unmatched;
        set_bit(state.free_positives.data(), positive);
    }
    static void free_negative(State& state, std::size_t negative) {
        state.partner_of_negative[negative] = unmatched;
        set_bit(state.free_negatives.data(), negative);
    }
    // Whether two certain samples conflict, and which.
    bool certain_conflict(const PairConflicts::Level& level, PairEdge& pair) const;
    void unvisit_all();
    // Unsets the positives of these sets in candidates_, and marks their negatives, and no others, as visited.
    void leave_out(std::span<const MustHitSet> sets);
    // Applies the rule for sets; whether it added anything to the closure.
    bool propagate_sets(std::span<const MustHitSet> sets, ConflictClosure& closure) const;
    void keep_unmatched(const State& state, ConflictClosure& closure) const;
    void propagate(const PairConflicts::Level& level, const State& state, ConflictClosure& closure);
    // A negative is given up because it conflicts with a kept positive.
    void give_up_negative(ConflictClosure& closure, std::size_t negative, std::size_t positive) const;

    const Samples& samples_;
    const PairConflicts& pairs_;
    double cost_;
    std::vector<std::uint64_t> unvisited_;
    std::vector<std::uint64_t> unvisited_before_;
    std::vector<std::uint64_t> candidates_;  // positives that are not left out, as bits
    std::vector<unsigned char> certain_positives_;
    std::vector<std::uint64_t> certain_negatives_;  // bits
    bool both_certain_ = false;                     // there are certain samples of both classes
    std::vector<Step> path_;
    std::vector<std::size_t> pending_;
    std::uint64_t work_ = 0;
    std::function<bool()> stop_ = never;
};

}  // namespace hardmargin
