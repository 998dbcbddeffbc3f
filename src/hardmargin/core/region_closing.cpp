#include "region_closing.h"

#include <algorithm>
#include <span>
#include <utility>

namespace hardmargin {

template <typename Cover>
RegionClosing<Cover>::RegionClosing(const Samples& samples, const DirectionFrame& frame, const PairConflicts& pairs,
                                    Cover& cover, MaxMargin& solver, Candidate candidate)
    : samples_(samples),
      frame_(frame),
      pairs_(pairs),
      cover_(cover),
      solver_(solver),
      candidate_(std::move(candidate)) {}

template <typename Cover>
bool RegionClosing<Cover>::closes(const DirectionNode& region, const Level& level, const State& state, double norm,
                                  double upper) {
    const double room = upper - safely_below(cover_.cost(state));
    const double slack = (room - norm) * (1 + rounding_share);
    cover_.close(level, state, slack, closure_);
    if (closure_.any_kept) {
        enable_region(region);
        enable_closure();
        return cost_at_least(room);
    }
    if constexpr (Cover::equal_costs) {
        return slack <= 2 * cover_.cost_of_one() && closes_one_short(region, level, state, upper);
    }
    return false;
}

template <typename Cover>
bool RegionClosing<Cover>::closes_one_short(const DirectionNode& region, const Level& level, const State& state,
                                            double upper)
    requires(Cover::equal_costs)
{
    // What a solution with no slack would keep is a good set to begin with. What it would give up follows from
    // that, and would make cases of its own: it is left out.
    cover_.close(level, state, 0, closure_);
    std::fill(closure_.positive_given_up.begin(), closure_.positive_given_up.end(), 0);
    std::fill(closure_.negative_given_up.begin(), closure_.negative_given_up.end(), 0);
    enable_region(region);
    enable_closure();
    if (!cost_at_least(upper - safely_below(cover_.cost(state)))) {
        return false;
    }
    find_supports();
    const double room = upper - safely_below(cover_.cost(state) + cover_.cost_of_one());
    for (std::size_t k = 0; k < supports_.size(); ++k) {
        released_ = state;
        if (!cover_.release(level, released_, supports_[k])) {
            return false;
        }
        cover_.close_without(level, released_, supports_[k], std::span(supports_).first(k), closure_);
        if (closure_.contradictory()) {
            continue;
        }
        enable_closure();
        if (!cost_at_least(room)) {
            return false;
        }
    }
    return true;
}

template <typename Cover>
void RegionClosing<Cover>::enable_region(const DirectionNode& region) {
    solver_.clear();
    solver_.set_extra_rows(frame_.rows(region));
    for (std::size_t j = 0; j < 2 * frame_.dimension(); ++j) {
        solver_.enable(solver_.extra_row(j));
    }
}

// Rows that stay enabled keep their part in the solution, from which the next one starts.
template <typename Cover>
void RegionClosing<Cover>::enable_closure() {
    const auto set = [&](std::size_t row, bool wanted) {
        if (wanted == solver_.enabled(row)) {
            return;
        }
        if (wanted) {
            solver_.enable(row);
        } else {
            solver_.disable(row);
        }
    };
    for (std::size_t i = 0; i < pairs_.positives(); ++i) {
        set(pairs_.positive(i), closure_.positive_kept[i] != 0);
        set(solver_.flip_row(pairs_.positive(i)), closure_.positive_given_up[i] != 0);
    }
    for (std::size_t j = 0; j < pairs_.negatives(); ++j) {
        set(pairs_.negative(j), closure_.negative_kept[j] != 0);
        set(solver_.flip_row(pairs_.negative(j)), closure_.negative_given_up[j] != 0);
    }
}

template <typename Cover>
bool RegionClosing<Cover>::cost_at_least(double value) {
    switch (solver_.solve(value)) {
        case MaxMarginStatus::threshold:
        case MaxMarginStatus::infeasible:
            return true;
        case MaxMarginStatus::optimal:
            candidate_(solver_);
            break;
        case MaxMarginStatus::failed:
            break;
    }
    return false;
}

template <typename Cover>
void RegionClosing<Cover>::find_supports() {
    multipliers_.clear();
    for (const Multiplier& multiplier : solver_.certificate()) {
        if (multiplier.row < samples_.count()) {
            multipliers_.push_back(multiplier);
        }
    }
    // If one of the cases cannot be closed, it is likely to be one without a sample that weighs much.
    std::sort(multipliers_.begin(), multipliers_.end(), [](const Multiplier& left, const Multiplier& right) {
        return left.value > right.value || (left.value == right.value && left.row < right.row);
    });
    supports_.clear();
    for (const Multiplier& multiplier : multipliers_) {
        supports_.push_back(multiplier.row);
    }
}

template class RegionClosing<ConflictMatching>;
template class RegionClosing<ConflictFlow>;

}  // namespace hardmargin
