// Alternating paths of a matching, for the sources of ConflictMatching.
#pragma once

#include <bit>

#include "base/bits.h"
#include "directions/matching.h"

namespace hardmargin {

// Depth first; each negative is visited once. `find_end(row, negative)` searches the conflicts of a positive for an
// unvisited negative at which the path may end, and makes it free. Then the pairs along the path are exchanged.
template <typename FindEnd>
bool ConflictMatching::follow_path(std::size_t start, const PairConflicts::Level& level, State& state,
                                   const FindEnd& find_end) {
    path_.assign(1, {start, 0, 0});
    while (!path_.empty()) {
        Step& step = path_.back();
        const std::uint64_t* row = &level.conflicts[step.positive * pairs_.words()];
        work_ += pairs_.words();
        if (step.place == 0 && find_end(row, step.negative)) {
            for (const Step& taken : path_) {
                join(state, taken.positive, taken.negative);
            }
            return true;
        }
        while (step.place < pairs_.words() && (row[step.place] & unvisited_[step.place]) == 0) {
            ++step.place;
        }
        if (step.place == pairs_.words()) {
            path_.pop_back();
            continue;
        }
        const std::uint64_t bits = row[step.place] & unvisited_[step.place];
        step.negative = step.place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
        unset_bit(unvisited_.data(), step.negative);
        path_.push_back({static_cast<std::size_t>(state.partner_of_negative[step.negative]), 0, 0});
    }
    return false;
}

}  // namespace hardmargin
