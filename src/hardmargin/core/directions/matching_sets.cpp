// The part of ConflictMatching that deals with must-hit sets.
#include <algorithm>
#include <bit>
#include <cassert>
#include <vector>

#include "base/bits.h"
#include "base/hyperplane.h"
#include "directions/matching.h"
#include "directions/matching_paths.h"

namespace hardmargin {

void ConflictMatching::close_exactly(const PairConflicts::Level& level, const State& state,
                                     std::span<const MustHitSet> sets, std::span<const std::size_t> given_up,
                                     std::span<const std::size_t> kept, ConflictClosure& closure) {
    closure.clear(pairs_.positives(), pairs_.negatives());
    keep_unmatched(state, closure);
    const auto mark = [&](std::size_t sample, unsigned char keep) {
        (samples_.label(sample) > 0 ? closure.positive_kept : closure.negative_kept)[pairs_.number(sample)] = keep;
    };
    for (const MustHitSet& members : sets) {
        for (const std::uint32_t sample : members) {
            assert(!matched(state, sample));
            mark(sample, 0);
        }
    }
    for (const std::size_t sample : given_up) {
        assert(!matched(state, sample));
        mark(sample, 0);
    }
    for (const std::size_t sample : kept) {
        mark(sample, 1);
    }
    do {
        propagate(level, state, closure);
    } while (propagate_sets(sets, closure));
}

// Exactly one sample of each set is given up: if one is known, the others are kept; two are impossible.
bool ConflictMatching::propagate_sets(std::span<const MustHitSet> sets, ConflictClosure& closure) const {
    bool added = false;
    for (const MustHitSet& members : sets) {
        std::size_t gone = 0;
        std::uint32_t last_gone = 0;
        for (const std::uint32_t sample : members) {
            const std::size_t number = pairs_.number(sample);
            if ((samples_.label(sample) > 0 ? closure.positive_given_up : closure.negative_given_up)[number] != 0) {
                ++gone;
                last_gone = sample;
            }
        }
        if (gone > 1) {
            closure.impossible = true;
            return false;
        }
        for (std::size_t k = 0; gone == 1 && k < members.size(); ++k) {
            const std::size_t number = pairs_.number(members[k]);
            const bool positive = samples_.label(members[k]) > 0;
            unsigned char& keep = (positive ? closure.positive_kept : closure.negative_kept)[number];
            if (keep == 0 && (positive ? closure.positive_given_up : closure.negative_given_up)[number] == 0) {
                keep = 1;
                closure.kept_because[members[k]] = static_cast<std::int32_t>(last_gone);
                added = true;
            }
        }
    }
    return added;
}

bool ConflictMatching::replace(std::size_t start, const PairConflicts::Level& level, State& state,
                               std::vector<std::uint64_t>& targets) {
    return follow_path(start, level, state, [&](const std::uint64_t* row, std::size_t& negative) {
        for (std::size_t place = 0; place < pairs_.words(); ++place) {
            const std::uint64_t bits = row[place] & unvisited_[place] & targets[place];
            if (bits != 0) {
                negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                unset_bit(unvisited_.data(), negative);
                unset_bit(targets.data(), negative);
                free_positive(state, static_cast<std::size_t>(state.partner_of_negative[negative]));
                return true;
            }
        }
        return false;
    });
}

std::size_t ConflictMatching::exchange(const PairConflicts::Level& level, State& state,
                                       std::span<const MustHitSet> sets, std::span<const double> margins) {
    assert(margins.size() >= samples_.count());
    const auto missed = [&](std::size_t sample) { return margins[sample] < nearly_kept_margin; };
    // Whether a negative is matched and neither sample of the pair is kept.
    const auto missed_pair = [&](std::size_t negative) {
        const std::int32_t partner = state.partner_of_negative[negative];
        return partner >= 0 && missed(pairs_.negative(negative)) &&
               missed(pairs_.positive(static_cast<std::size_t>(partner)));
    };
    std::size_t exchanged = 0;
    // A negative becomes unmatched if a path leads from its positive to a negative that is kept. What a failed
    // search has visited leads nowhere for the next ones either.
    leave_out(sets);
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (state.partner_of_negative[negative] < 0 && missed(pairs_.negative(negative))) {
            unset_bit(unvisited_.data(), negative);
        }
    }
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (!missed_pair(negative)) {
            continue;
        }
        const auto positive = static_cast<std::size_t>(state.partner_of_negative[negative]);
        unset_bit(unvisited_.data(), negative);
        free_positive(state, positive);
        free_negative(state, negative);
        if (augment(positive, level, state)) {
            ++exchanged;
        } else {
            join(state, positive, negative);
        }
    }
    // A positive becomes unmatched if a kept one can replace it.
    std::vector<std::uint64_t> targets(pairs_.words());
    std::fill(unvisited_.begin(), unvisited_.end(), 0);
    bool any = false;
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (state.partner_of_negative[negative] >= 0) {
            set_bit(unvisited_.data(), negative);
        }
        if (missed_pair(negative)) {
            set_bit(targets.data(), negative);
            any = true;
        }
    }
    for (std::size_t start = pairs_.positives(); any && start-- > 0;) {
        if (state.partner_of_positive[start] < 0 && is_set(candidates_.data(), start) &&
            !missed(pairs_.positive(start))) {
            exchanged += replace(start, level, state, targets) ? 1 : 0;
        }
    }
    return exchanged;
}

}  // namespace hardmargin
