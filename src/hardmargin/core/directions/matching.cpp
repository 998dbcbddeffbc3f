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

}  // namespace

ConflictMatching::ConflictMatching(const Samples& samples, const PairConflicts& pairs)
    : samples_(samples), pairs_(pairs), cost_(samples.common_cost()), unvisited_(pairs.words()) {
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
    std::fill(unvisited_.begin(), unvisited_.end(), ~std::uint64_t{0});
}

void ConflictMatching::leave_out(std::span<const MustHitSet> sets) {
    unvisit_all();
    left_out_.assign(pairs_.positives(), 0);
    for (const MustHitSet& members : sets) {
        for (const std::uint32_t sample : members) {
            if (samples_.label(sample) > 0) {
                left_out_[pairs_.number(sample)] = 1;
            } else {
                unset_bit(unvisited_.data(), pairs_.number(sample));
            }
        }
    }
}

bool ConflictMatching::augment(std::size_t start, const PairConflicts::Level& level, State& state) {
    return follow_path(start, level, state, [&](const std::uint64_t* row, std::size_t& negative) {
        return find_free(row, state, negative);
    });
}

// Finds an unvisited and unmatched opponent.
bool ConflictMatching::find_free(const std::uint64_t* row, const State& state, std::size_t& negative) {
    for (std::size_t place = 0; place < pairs_.words(); ++place) {
        for (std::uint64_t bits = row[place] & unvisited_[place]; bits != 0; bits &= bits - 1) {
            negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
            if (is_set(certain_negatives_.data(), negative)) {
                return true;
            }
            if (state.partner_of_negative[negative] < 0) {
                unset_bit(unvisited_.data(), negative);
                return true;
            }
        }
    }
    return false;
}

void ConflictMatching::grow(const PairConflicts::Level& level, State& state, double enough,
                            std::span<const MustHitSet> sets) {
    state.impossible = state.impossible || certain_conflict(level, state.certain_pair);
    const std::size_t positives_between_stops = 1 + words_between_stops / (pairs_.words() + 1);
    for (bool grown = true; grown;) {
        grown = false;
        leave_out(sets);
        // Positives far on their own side have the fewest opponents, so they are matched first.
        for (std::size_t positive = pairs_.positives(); positive-- > 0;) {
            if (cost(state) >= enough || (positive % positives_between_stops == 0 && stop_())) {
                return;
            }
            if (state.partner_of_positive[positive] >= 0 || left_out_[positive] != 0) {
                continue;
            }
            bool again = true;
            while (again && augment(positive, level, state)) {
                ++state.size;
                grown = true;
                again = certain_positives_[positive] != 0 && cost(state) < enough;
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
    state.partner_of_positive[positive] = unmatched;
    state.partner_of_negative[negative] = unmatched;
    leave_out(sets);
    if (!is_positive) {
        // A path that replaces the pair starts at the partner.
        unset_bit(unvisited_.data(), negative);
        return augment(positive, level, state);
    }
    // A path that replaces the pair ends at the partner, and may start anywhere.
    for (std::size_t start = 0; start < pairs_.positives(); ++start) {
        if (start != positive && state.partner_of_positive[start] < 0 && left_out_[start] == 0 &&
            augment(start, level, state)) {
            return true;
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
    // From kept negatives, in rounds.
    std::vector<std::uint64_t>& kept = unvisited_;
    std::fill(kept.begin(), kept.end(), 0);
    bool more = false;
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (closure.negative_kept[negative] != 0) {
            set_bit(kept.data(), negative);
            more = true;
        }
    }
    while (more) {
        more = false;
        for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
            if (closure.positive_given_up[positive] != 0) {
                continue;
            }
            const std::uint64_t* row = &level.conflicts[positive * pairs_.words()];
            std::uint64_t opponents = 0;
            std::size_t place = 0;
            for (; place < pairs_.words() && opponents == 0; ++place) {
                opponents = row[place] & kept[place];
            }
            if (opponents == 0) {
                continue;
            }
            closure.positive_given_up[positive] = 1;
            const std::size_t opponent =
                (place - 1) * word_bits + static_cast<std::size_t>(std::countr_zero(opponents));
            closure.given_up_because[pairs_.positive(positive)] =
                static_cast<std::int32_t>(pairs_.negative(opponent));
            const std::int32_t partner = state.partner_of_positive[positive];
            if (partner >= 0 && closure.negative_kept[static_cast<std::size_t>(partner)] == 0) {
                closure.negative_kept[static_cast<std::size_t>(partner)] = 1;
                closure.kept_because[pairs_.negative(static_cast<std::size_t>(partner))] =
                    static_cast<std::int32_t>(pairs_.positive(positive));
                set_bit(kept.data(), static_cast<std::size_t>(partner));
                more = true;
            }
        }
        work_ += pairs_.positives() * pairs_.words();
    }
    closure.any_kept = true;
}

}  // namespace hardmargin
