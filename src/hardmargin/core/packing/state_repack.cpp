// Better packings for a subproblem: sets that shrink, and sets that are replaced by others.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "packing/state.h"

namespace hardmargin {

namespace {

// A packing is changed for a gain of at least this much of a sample.
constexpr double least_gain = 0.01;
// A repacked packing counts as equally good if it loses no more than this share.
constexpr double repacking_rounding = 1e-9;

}  // namespace

PackingState::Found PackingState::shrink() {
    Found result = Found::nothing;
    for (std::size_t index = 0; index < sets_.size() && !stop_(); ++index) {
        PackedSet& set = sets_[index];
        if (set.shrunk_decisions == decisions_ + 1 && set.shrunk_room <= room()) {
            continue;
        }
        set.shrunk_decisions = decisions_ + 1;
        set.shrunk_room = room();
        const Found found = shrink_set(index);
        if (found == Found::closed) {
            return found;
        }
        if (found == Found::something) {
            result = found;
        }
    }
    settle_single_sets();
    return result;
}

PackingState::Found PackingState::shrink_set(std::size_t index) {
    if (is_used_up()) {
        write_closed_by_cost();
        return Found::closed;
    }
    const std::vector<Member> members = sets_[index].members;
    if (!certify_alone(members)) {
        return Found::nothing;
    }
    if (learns()) {
        cover_.learn(decided_);
    }
    collect_free_members(decided_, found_);
    if (found_.size() >= members.size()) {
        return Found::nothing;
    }
    const PackingTrace::SetNumber number = write(decided_);
    if (found_.empty()) {
        if (trace_) {
            trace_->close(number);
        }
        return Found::closed;
    }
    for (const Member& member : members) {
        const bool left = std::none_of(found_.begin(), found_.end(),
                                       [&](const Member& other) { return other.sample == member.sample; });
        if (left) {
            adjust_residual(member.sample, sets_[index].share);
        }
    }
    sets_[index].members = found_;
    sets_[index].number = number;
    return Found::something;
}

PackingState::Found PackingState::repack() {
    for (std::size_t index = 0; index < sets_.size() && !stop_(); ++index) {
        const Found found = repack_set(index);
        if (found != Found::nothing) {
            return found;
        }
    }
    return Found::nothing;
}

PackingState::Found PackingState::repack_set(std::size_t index) {
    const double packed_before = packed_cost_;
    const double room_before = room();
    const std::size_t size_before = sets_[index].members.size();
    save(before_repack_);
    if (trace_) {
        // What is found below may rely on the room that counts all sets.
        write_packing();
    }
    const std::size_t written_before = trace_ ? trace_->record().size() : 0;
    const PackingTrace::Mark mark = trace_ ? trace_->mark() : PackingTrace::Mark{};
    const auto undo = [&] {
        restore(before_repack_);
        if (trace_) {
            trace_->forget(written_before, mark);
        }
    };
    dissolve(index);
    std::size_t first_size = 0;
    for (;;) {
        const double limit = std::min(room(), room_before);
        if (limit <= 0 || exceeds_budget()) {
            write_closed_by_cost();
            return Found::closed;
        }
        const MaxMarginStatus status = solver_.solve(limit);
        if (status == MaxMarginStatus::failed) {
            undo();
            return Found::nothing;
        }
        if (status == MaxMarginStatus::optimal) {
            break;
        }
        collect_free_members(solver_, found_);
        const PackingTrace::SetNumber number = write(solver_);
        if (found_.empty()) {
            if (trace_) {
                trace_->close(number);
            }
            return Found::closed;
        }
        if (found_.size() == 1) {
            const std::size_t sample = found_[0].sample;
            if (trace_) {
                trace_->unit(number);
            }
            restore(before_repack_);
            give_up(sample);
            return Found::something;
        }
        if (learns()) {
            cover_.learn(solver_);
        }
        if (first_size == 0) {
            first_size = found_.size();
        }
        pack(found_, number);
    }
    if (packed_cost_ > packed_before + least_gain * typical_cost_) {
        return Found::something;
    }
    // A smaller set of the same value is kept, although it does not raise the bound.
    const bool smaller =
        packed_cost_ >= packed_before * (1 - repacking_rounding) && first_size > 0 && first_size < size_before;
    if (!smaller) {
        undo();
    }
    return Found::nothing;
}

}  // namespace hardmargin
