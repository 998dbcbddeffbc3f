#include "directions/matching.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "base/bits.h"
#include "base/kernels.h"
#include "base/rounding.h"
#include "directions/matching_paths.h"

namespace hardmargin {

namespace {

// Words of conflicts that the positives between two calls of `stop` have. With few samples, that is all of them.
constexpr std::size_t words_between_stops = std::size_t{1} << 14;

// Whether a row of bits and these have one in common. The loop does not end early, which lets it use vectors.
bool meets(const std::uint64_t* row, const std::vector<std::uint64_t>& bits) {
    std::uint64_t common = 0;
    for (std::size_t place = 0; place < bits.size(); ++place) {
        common |= row[place] & bits[place];
    }
    return common != 0;
}

// The first one that they have in common.
std::size_t first_in_both(const std::uint64_t* row, const std::vector<std::uint64_t>& bits) {
    std::size_t place = 0;
    while ((row[place] & bits[place]) == 0) {
        ++place;
    }
    return place * word_bits + static_cast<std::size_t>(std::countr_zero(row[place] & bits[place]));
}

}  // namespace

ConflictMatching::ConflictMatching(const Samples& samples, const PairConflicts& pairs)
    : samples_(samples),
      pairs_(pairs),
      cost_(samples.common_cost()),
      unvisited_(pairs.words()),
      candidates_((pairs.positives() + word_bits - 1) / word_bits) {
    assert(cost_ > 0);
}

void ConflictMatching::start(State& state) {
    // Samples may have been renumbered.
    certain_positives_.assign(pairs_.positives(), 0);
    certain_negatives_.assign(pairs_.words(), 0);
    bool any_positive = false;
    bool any_negative = false;
    for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
        certain_positives_[positive] = samples_.certain(pairs_.positive(positive)) ? 1 : 0;
        any_positive = any_positive || certain_positives_[positive] != 0;
    }
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (samples_.certain(pairs_.negative(negative))) {
            set_bit(certain_negatives_.data(), negative);
            any_negative = true;
        }
    }
    both_certain_ = any_positive && any_negative;
    state.partner_of_positive.assign(pairs_.positives(), unmatched);
    state.partner_of_negative.assign(pairs_.words() * word_bits, unmatched);
    state.free_positives.assign(candidates_.size(), ~std::uint64_t{0});
    state.free_negatives.assign(pairs_.words(), ~std::uint64_t{0});
    state.size = 0;
    state.impossible = false;
}

bool ConflictMatching::certain_conflict(const PairConflicts::Level& level, PairEdge& pair) const {
    for (std::size_t positive = 0; both_certain_ && positive < pairs_.positives(); ++positive) {
        const std::uint64_t* row = &level.conflicts[positive * pairs_.words()];
        for (std::size_t place = 0; certain_positives_[positive] != 0 && place < pairs_.words(); ++place) {
            if (const std::uint64_t bits = row[place] & certain_negatives_[place]; bits != 0) {
                const std::size_t negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                pair = {static_cast<std::uint32_t>(positive), static_cast<std::uint32_t>(negative), 1};
                return true;
            }
        }
    }
    return false;
}

std::size_t ConflictMatching::missing(const State& state, double needed) const {
    const auto enough = [&](std::size_t more) { return safely_below(cost_of(state.size + more)) >= needed; };
    auto more = static_cast<std::size_t>(std::max(0.0, std::ceil((needed - cost(state)) / cost_)));
    while (!enough(more)) {
        ++more;
    }
    while (more > 0 && enough(more - 1)) {
        --more;
    }
    return more;
}

void ConflictMatching::unvisit_all() {
    unvisited_.assign(pairs_.words(), ~std::uint64_t{0});
}

void ConflictMatching::leave_out(std::span<const MustHitSet> sets) {
    unvisit_all();
    std::fill(candidates_.begin(), candidates_.end(), ~std::uint64_t{0});
    if (const std::size_t in_last_word = pairs_.positives() % word_bits; in_last_word > 0) {
        candidates_.back() = (std::uint64_t{1} << in_last_word) - 1;
    }
    for (const MustHitSet& members : sets) {
        for (const std::uint32_t sample : members) {
            unset_bit((samples_.label(sample) > 0 ? candidates_ : unvisited_).data(), pairs_.number(sample));
        }
    }
}

bool ConflictMatching::augment(std::size_t start, const PairConflicts::Level& level, State& state) {
    return follow_path(start, level, state, [&](const std::uint64_t* row, std::size_t& negative) {
        for (std::size_t place = 0; place < pairs_.words(); ++place) {
            if (const std::uint64_t bits = row[place] & unvisited_[place] & state.free_negatives[place];
                bits != 0) {
                negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                // Certain negatives may have any number of partners.
                if (!is_set(certain_negatives_.data(), negative)) {
                    unset_bit(unvisited_.data(), negative);
                }
                return true;
            }
        }
        return false;
    });
}

// One search per unmatched positive is enough. From what a failed search has visited no unmatched negative can be
// reached, so no later path leads there, and so none can be reached from there after other paths either. What a
// successful search has visited may be visited again.
void ConflictMatching::grow(const PairConflicts::Level& level, State& state, double enough,
                            std::span<const MustHitSet> sets) {
    state.impossible = state.impossible || certain_conflict(level, state.certain_pair);
    if (cost(state) >= enough) {
        return;
    }
    const std::size_t positives_between_stops = 1 + words_between_stops / (pairs_.words() + 1);
    std::size_t until_stop = positives_between_stops;
    leave_out(sets);
    // Positives far on their own side have the fewest opponents, so they are matched first.
    for (std::size_t place = candidates_.size(); place-- > 0;) {
        for (std::uint64_t bits = candidates_[place] & state.free_positives[place]; bits != 0;) {
            const auto bit = static_cast<std::size_t>(std::bit_width(bits) - 1);
            const std::size_t positive = place * word_bits + bit;
            bits &= ~(std::uint64_t{1} << bit);
            if (--until_stop == 0) {
                if (stop_()) {
                    return;
                }
                until_stop = positives_between_stops;
            }
            // Most unmatched positives have no unvisited opponent.
            bool again = meets(&level.conflicts[positive * pairs_.words()], unvisited_);
            while (again) {
                unvisited_before_ = unvisited_;
                if (!augment(positive, level, state)) {
                    break;
                }
                unvisited_.swap(unvisited_before_);
                ++state.size;
                if (cost(state) >= enough) {
                    return;
                }
                again = certain_positives_[positive] != 0;
            }
        }
    }
}

void ConflictMatching::close(const PairConflicts::Level& level, const State& state, double slack,
                             ConflictClosure& closure) {
    closure.clear(pairs_.positives(), pairs_.negatives());
    if (slack > cost_) {
        return;
    }
    keep_unmatched(state, closure);
    propagate(level, state, closure);
}

void ConflictMatching::keep_unmatched(const State& state, ConflictClosure& closure) const {
    for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
        closure.positive_kept[positive] = state.partner_of_positive[positive] < 0;
    }
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        closure.negative_kept[negative] = state.partner_of_negative[negative] < 0;
    }
}

bool ConflictMatching::release(const PairConflicts::Level& level, State& state, std::size_t sample,
                               std::span<const MustHitSet> sets) {
    const std::size_t number = pairs_.number(sample);
    const bool is_positive = samples_.label(sample) > 0;
    const std::int32_t partner = (is_positive ? state.partner_of_positive : state.partner_of_negative)[number];
    if (partner < 0) {
        return true;
    }
    const std::size_t positive = is_positive ? number : static_cast<std::size_t>(partner);
    const std::size_t negative = is_positive ? static_cast<std::size_t>(partner) : number;
    free_positive(state, positive);
    free_negative(state, negative);
    leave_out(sets);
    if (!is_positive) {
        // A path that replaces the pair starts at the partner.
        unset_bit(unvisited_.data(), negative);
        return augment(positive, level, state);
    }
    // A path that replaces the pair ends at the partner, and may start anywhere.
    for (std::size_t place = 0; place < candidates_.size(); ++place) {
        for (std::uint64_t bits = candidates_[place] & state.free_positives[place]; bits != 0; bits &= bits - 1) {
            const std::size_t start = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
            if (start != positive && augment(start, level, state)) {
                return true;
            }
        }
    }
    return false;
}

void ConflictMatching::give_up_negative(ConflictClosure& closure, std::size_t negative,
                                        std::size_t positive) const {
    if (closure.negative_given_up[negative] == 0) {
        closure.negative_given_up[negative] = 1;
        closure.given_up_because[pairs_.negative(negative)] = static_cast<std::int32_t>(pairs_.positive(positive));
    }
}

void ConflictMatching::propagate(const PairConflicts::Level& level, const State& state, ConflictClosure& closure) {
    // From kept positives: opponents are given up, and their partners kept.
    pending_.clear();
    for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
        if (closure.positive_kept[positive] != 0) {
            pending_.push_back(positive);
        }
    }
    unvisit_all();
    while (!pending_.empty()) {
        const std::size_t positive = pending_.back();
        const std::uint64_t* row = &level.conflicts[positive * pairs_.words()];
        pending_.pop_back();
        if (!meets(row, unvisited_)) {
            continue;
        }
        for (std::size_t place = 0; place < pairs_.words(); ++place) {
            std::uint64_t bits = row[place] & unvisited_[place];
            unvisited_[place] &= ~bits;
            for (; bits != 0; bits &= bits - 1) {
                const std::size_t negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                give_up_negative(closure, negative, positive);
                const std::int32_t partner = state.partner_of_negative[negative];
                if (partner >= 0 && closure.positive_kept[static_cast<std::size_t>(partner)] == 0) {
                    closure.positive_kept[static_cast<std::size_t>(partner)] = 1;
                    closure.kept_because[pairs_.positive(static_cast<std::size_t>(partner))] =
                        static_cast<std::int32_t>(pairs_.negative(negative));
                    pending_.push_back(static_cast<std::size_t>(partner));
                }
            }
        }
    }
    // Opponents of kept positives are given up by now. So if a kept negative is among them, that is a contradiction
    // already, and otherwise only the other positives can have kept opponents.
    for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
        if (closure.positive_kept[positive] == 0 && closure.positive_given_up[positive] == 0) {
            pending_.push_back(positive);
        }
    }
    // From kept negatives, in rounds: those that are new in one of them matter in the next one.
    std::vector<std::uint64_t>& kept = unvisited_;
    std::fill(kept.begin(), kept.end(), 0);
    bool more = false;
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (closure.negative_kept[negative] != 0) {
            set_bit(kept.data(), negative);
            more = true;
        }
    }
    std::vector<std::uint64_t>& kept_next = unvisited_before_;
    while (more) {
        more = false;
        kept_next.assign(kept.size(), 0);
        for (const std::size_t positive : pending_) {
            const std::uint64_t* row = &level.conflicts[positive * pairs_.words()];
            if (closure.positive_given_up[positive] != 0 || !meets(row, kept)) {
                continue;
            }
            closure.positive_given_up[positive] = 1;
            closure.given_up_because[pairs_.positive(positive)] =
                static_cast<std::int32_t>(pairs_.negative(first_in_both(row, kept)));
            const std::int32_t partner = state.partner_of_positive[positive];
            if (partner >= 0 && closure.negative_kept[static_cast<std::size_t>(partner)] == 0) {
                closure.negative_kept[static_cast<std::size_t>(partner)] = 1;
                closure.kept_because[pairs_.negative(static_cast<std::size_t>(partner))] =
                    static_cast<std::int32_t>(pairs_.positive(positive));
                set_bit(kept_next.data(), static_cast<std::size_t>(partner));
                more = true;
            }
        }
        kept.swap(kept_next);
        work_ += pending_.size() * pairs_.words();
    }
    closure.any_kept = true;
}

}  // namespace hardmargin
