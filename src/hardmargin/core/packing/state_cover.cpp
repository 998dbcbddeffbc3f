// The part of PackingState that raises its bound by the cover bound.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "packing/state.h"

namespace hardmargin {

namespace {

// If the cover bound rises by less than this much of a sample, the packing is not tried again.
constexpr double least_rise = 0.05;
constexpr std::size_t most_rounds = 30;
constexpr std::size_t most_sets_of_a_round = 30;
// Rounds continue as long as this many more at the current pace would gain a whole sample.
constexpr double patience = 8;
// Sets are searched for among samples whose values in the cover bound do not exceed the first of these, then the
// next.
constexpr std::array value_levels = {1e-9, 0.12, 0.25};

// A set is examined if the values of its members add up to less than this. It may lose members by that, but few
// sets with larger sums lose so many that they are not covered (1 in 20).
constexpr double most_covered = 1.1;
// How many of its heaviest members are disabled after a set was found, so that the next one differs.
constexpr std::size_t members_left_out = 2;

// Tracks the cover bound over the rounds, in samples.
class Pace {
public:
    // Whether to continue after a round that ended at `value`.
    bool goes_on(double value) {
        std::rotate(last_.begin(), last_.begin() + 1, last_.end());
        last_.back() = value;
        if (++count_ < last_.size()) {
            return true;
        }
        const double gain = (last_.back() - last_.front()) / static_cast<double>(last_.size() - 1);
        const double wanted = std::floor(value + cover_rounding) + 1 - value;
        return gain * patience >= wanted;
    }

private:
    static constexpr std::size_t rounds = 4;
    std::array<double, rounds> last_{};
    std::size_t count_ = 0;
};

}  // namespace

double PackingState::distance() const {
    const Budget& budget = options_.budget;
    const double needed = budget.limits_all() ? budget.credit() : cutoff().needed(decided_.value());
    return (needed - known_cost()) / typical_cost_;
}

bool PackingState::uses_cover() {
    if (without_cover_) {
        return false;
    }
    if (options_.cover_distance) {
        return distance() >= *options_.cover_distance;
    }
    if (!decision_) {
        decision_ = options_.knowledge->choice.decide(distance());
        work_at_decision_ = work();
    }
    return decision_->way == CoverChoice::Way::with_cover;
}

PackingState::Found PackingState::cover() {
    // Without a basis of its own, the subproblem must not use the one in cover_, which may come from anywhere.
    if (!cover_basis_ || cover_basis_ != loaded_basis_) {
        cover_.load(cover_basis_ ? *cover_basis_ : CoverLp::BasisSnapshot{}, statuses_);
    }
    const Found found = raise_cover();
    // A closed subproblem has no parts that could start from its basis.
    loaded_basis_ =
        found == Found::closed ? nullptr : std::make_shared<const CoverLp::BasisSnapshot>(cover_.snapshot());
    cover_basis_ = loaded_basis_;
    return found;
}

PackingState::Found PackingState::raise_cover() {
    const double known_before = known_cost();
    bool decided = false;
    Pace pace;
    for (std::size_t round = 0; round < most_rounds && !stop_(); ++round) {
        const CoverBound::Validity validity = cover_.select(statuses_, room());
        if (validity == CoverBound::Validity::closed) {
            if (trace_) {
                trace_->close(write_pool_set(cover_.decisive_set()));
            }
            return Found::closed;
        }
        if (validity == CoverBound::Validity::forced) {
            if (trace_) {
                trace_->unit(write_pool_set(cover_.decisive_set()));
            }
            give_up(cover_.forced());
            decided = true;
            continue;
        }
        const double proven = cover_.solve(closing_cost());
        cover_is_written_ = false;
        if (trace_ && proven > known_cost()) {
            write_cover();
        }
        proven_cost_ = std::max(proven_cost_, proven);
        cover_values_.assign(cover_.values().begin(), cover_.values().end());
        if (is_used_up()) {
            write_closed_by_cost();
            return Found::closed;
        }
        // Reduced costs are valid for the decisions that the program was solved with: use them before the next
        // ones.
        const Found kept = keep_what_is_too_dear();
        if (kept != Found::nothing) {
            return kept;
        }
        Found found = Found::nothing;
        for (std::size_t level = 0; level < value_levels.size() && found == Found::nothing; ++level) {
            found = find_uncovered_sets(value_levels[level]);
        }
        if (found == Found::closed) {
            return found;
        }
        if (found == Found::nothing || !pace.goes_on(cover_.value() / typical_cost_)) {
            break;
        }
    }
    const bool raised = known_cost() > known_before + least_rise * typical_cost_;
    return decided || raised ? Found::something : Found::nothing;
}

PackingState::Found PackingState::keep_what_is_too_dear() {
    const double norm = norm_of_decided();
    const std::vector<Multiplier> norm_certificate(decided_.certificate().begin(), decided_.certificate().end());
    Found found = Found::nothing;
    for (std::size_t i = 0; i < statuses_.size(); ++i) {
        if (is_free(i) && is_too_dear(cover_.bound_if_given_up(i), norm)) {
            if (trace_) {
                write_cover();
                if (norm > 0 && found == Found::nothing) {
                    trace_->norm(norm_certificate);
                }
                trace_->keep_dear(i);
            }
            if (keep(i) == Verdict::closed) {
                return Found::closed;
            }
            found = Found::something;
        }
    }
    return found;
}

PackingTrace::SetNumber PackingState::write_pool_set(std::size_t index) {
    write_packing();
    return trace_->add(index, cover_.certificate(index));
}

void PackingState::write_cover() {
    if (cover_is_written_) {
        return;
    }
    write_packing();
    std::vector<PackingTrace::Packed> weights;
    for (const CoverBound::WeightedSet& set : cover_.weights()) {
        weights.push_back({trace_->add(set.index, cover_.certificate(set.index)), set.weight});
    }
    trace_->cover(weights);
    cover_is_written_ = true;
}

void PackingState::set_up_separator(double largest_value) {
    for (std::size_t i = 0; i < statuses_.size(); ++i) {
        const bool kept = statuses_[i] == SampleStatus::kept;
        if (kept || (is_free(i) && cover_values_[i] <= largest_value)) {
            separator_.enable(i);
        } else {
            separator_.disable(i);
        }
        if (statuses_[i] == SampleStatus::given_up) {
            separator_.enable(separator_.flip_row(i));
        } else {
            separator_.disable(separator_.flip_row(i));
        }
    }
}

PackingState::Found PackingState::find_uncovered_sets(double largest_value) {
    set_up_separator(largest_value);
    Found result = Found::nothing;
    for (std::size_t tries = 0; tries < most_sets_of_a_round; ++tries) {
        const MaxMarginStatus status = separator_.solve(room());
        if (status == MaxMarginStatus::failed) {
            separator_.forget();
            break;
        }
        if (status == MaxMarginStatus::optimal) {
            upper_ = improve_(separator_);
            break;
        }
        collect_free_members(separator_, found_);
        if (found_.empty()) {
            if (trace_) {
                trace_->close(write(separator_));
            }
            return Found::closed;
        }
        std::vector<Member> members = found_;
        if (covered_by(members) < most_covered &&
            cover_.add_violated(certify_alone(members) ? decided_ : separator_)) {
            result = Found::something;
        }
        // Without its heaviest members the next set differs from this one, but is not disjoint from it.
        const std::size_t heaviest = std::min(members_left_out, members.size());
        std::partial_sort(
            members.begin(), members.begin() + static_cast<std::ptrdiff_t>(heaviest), members.end(),
            [](const Member& left, const Member& right) { return left.multiplier > right.multiplier; });
        for (std::size_t k = 0; k < heaviest; ++k) {
            separator_.disable(members[k].sample);
        }
    }
    return result;
}

double PackingState::covered_by(const std::vector<Member>& members) const {
    return std::accumulate(members.begin(), members.end(), 0.0,
                           [this](double sum, const Member& member) { return sum + cover_values_[member.sample]; });
}

bool PackingState::certify_alone(const std::vector<Member>& members) {
    for (const Member& member : members) {
        decided_.enable(member.sample);
    }
    const MaxMarginStatus status = decided_.solve(room());
    for (const Member& member : members) {
        decided_.disable(member.sample);
    }
    return status == MaxMarginStatus::threshold || status == MaxMarginStatus::infeasible;
}

}  // namespace hardmargin
