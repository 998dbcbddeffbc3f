#include "directions/region_closing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/rounding.h"

namespace hardmargin {

template <typename PairCover>
RegionClosing<PairCover>::RegionClosing(const Samples& samples, const DirectionFrame& frame,
                                        const PairConflicts& pairs, PairCover& cover, MaxMargin& solver,
                                        Candidate candidate)
    : samples_(samples),
      frame_(frame),
      pairs_(pairs),
      cover_(cover),
      solver_(solver),
      candidate_(std::move(candidate)),
      packing_(samples, frame, pairs, cover, solver) {
    for (std::size_t i = 0; i < samples.count(); ++i) {
        if (samples.certain(i)) {
            certain_.push_back(i);
        }
    }
}

template <typename PairCover>
bool RegionClosing<PairCover>::closes(const DirectionNode& region, const Level& level, State& state, double& norm,
                                      const Cutoff& cutoff, bool packing, const RegionSets& around,
                                      RegionSets& found) {
    found.clear();
    const double covered = cover_.cost(state) * (1 - cover_.rounding(state));
    if ((!certain_.empty() || samples_.has_weight_bounds()) &&
        certain_cost_at_least(cutoff.room(covered), region, norm)) {
        if (trace_ != nullptr) {
            closure_.clear(pairs_.positives(), pairs_.negatives());
            trace_->cover(region, state);
            trace_->close_exactly(closure_, {}, {}, solver_.certificate());
        }
        return true;
    }
    if constexpr (PairCover::equal_costs) {
        const std::size_t missing = cover_.missing(state, cutoff.needed(norm));
        if (closes_if_short(missing, region, level, state, {}, cutoff)) {
            return true;
        }
        if (missing == 1 || !packing) {
            return false;
        }
        if (packing_.find(region, level, state, missing, cutoff, around, found)) {
            if (trace_ != nullptr) {
                trace_->cover(region, state);
                trace_->close();
            }
            return true;
        }
        if (found.sets.empty()) {
            return false;
        }
        const std::size_t still_missing = missing - found.sets.size();
        if (closes_if_short(still_missing, region, level, state, found.sets, cutoff)) {
            return true;
        }
        if (still_missing == 1) {
            // Without the largest set two are missing, and cases can be distinguished.
            std::vector<MustHitSet> fewer = found.sets;
            fewer.erase(std::max_element(
                fewer.begin(), fewer.end(),
                [](const MustHitSet& left, const MustHitSet& right) { return left.size() < right.size(); }));
            return !fewer.empty() && closes_with_two(region, level, state, fewer, cutoff);
        }
        return false;
    } else {
        const double rounding = cover_.rounding(state);
        const double room = cutoff.room(covered);
        cover_.close(level, state, (cutoff.needed(norm) - covered) * (1 + rounding), closure_);
        if (!closure_.any_kept) {
            return false;
        }
        enable_region(region);
        enable_closure();
        if (!cost_at_least(room)) {
            return false;
        }
        if (trace_ != nullptr) {
            trace_->cover(region, state);
            trace_->close_exactly(closure_, {}, {}, solver_.certificate());
        }
        return true;
    }
}

template <typename PairCover>
bool RegionClosing<PairCover>::closes_if_short(std::size_t missing, const DirectionNode& region, const Level& level,
                                               const State& state, std::span<const MustHitSet> sets,
                                               const Cutoff& cutoff)
    requires(PairCover::equal_costs)
{
    return (missing == 1 && closes_with_one(region, level, state, sets, cutoff)) ||
           (missing == 2 && closes_with_two(region, level, state, sets, cutoff));
}

// A better solution gives up one sample of each pair and each set, and no others.
template <typename PairCover>
bool RegionClosing<PairCover>::closes_with_one(const DirectionNode& region, const Level& level, const State& state,
                                               std::span<const MustHitSet> sets, const Cutoff& cutoff)
    requires(PairCover::equal_costs)
{
    cover_.close_exactly(level, state, sets, {}, {}, closure_);
    std::span<const Multiplier> certificate;
    if (!closure_.contradictory()) {
        enable_region(region);
        enable_closure();
        if (!cost_at_least(cutoff.room(safely_below(cover_.cost_of(state.size + sets.size()))))) {
            return false;
        }
        certificate = solver_.certificate();
    }
    if (trace_ != nullptr) {
        trace_->cover(region, state);
        trace_->close_exactly(closure_, sets, {}, certificate);
    }
    return true;
}

// A better solution gives up one sample of each pair and each set, and at most one more.
template <typename PairCover>
bool RegionClosing<PairCover>::closes_with_two(const DirectionNode& region, const Level& level, const State& state,
                                               std::span<const MustHitSet> sets, const Cutoff& cutoff)
    requires(PairCover::equal_costs)
{
    // The samples that a solution without the extra one keeps are a good set to distinguish cases. The samples that
    // it gives up follow from them and would add cases, so they are left out. So are samples of sets: a solution
    // that gives up one of them may give up another one of the same set, so nothing would be decided.
    cover_.close_exactly(level, state, sets, {}, {}, closure_);
    std::fill(closure_.positive_given_up.begin(), closure_.positive_given_up.end(), 0);
    std::fill(closure_.negative_given_up.begin(), closure_.negative_given_up.end(), 0);
    for (const MustHitSet& members : sets) {
        for (const std::uint32_t sample : members) {
            auto& kept = samples_.label(sample) > 0 ? closure_.positive_kept : closure_.negative_kept;
            kept[pairs_.number(sample)] = 0;
        }
    }
    enable_region(region);
    enable_closure();
    const std::size_t least = state.size + sets.size();
    if (!cost_at_least(cutoff.room(safely_below(cover_.cost_of(least))))) {
        return false;
    }
    find_supports();
    std::size_t written = 0;
    if (trace_ != nullptr) {
        trace_->cover(region, state);
        written = trace_->record().size();
        trace_->begin_cases(solver_.certificate());
    }
    const auto fail = [&] {
        if (trace_ != nullptr) {
            trace_->shorten(written);
        }
        return false;
    };
    const double room = cutoff.room(safely_below(cover_.cost_of(least + 1)));
    for (std::size_t k = 0; k < supports_.size(); ++k) {
        released_ = state;
        if (!cover_.release(level, released_, supports_[k], sets)) {
            return fail();
        }
        cover_.close_exactly(level, released_, sets, std::span(supports_).subspan(k, 1),
                             std::span(supports_).first(k), closure_);
        std::span<const Multiplier> certificate;
        if (!closure_.contradictory()) {
            enable_closure();
            if (!cost_at_least(room)) {
                return fail();
            }
            certificate = solver_.certificate();
        }
        if (trace_ != nullptr) {
            trace_->begin_case(region, released_, supports_[k]);
            trace_->close_exactly(closure_, sets, std::span(supports_).first(k), certificate);
        }
    }
    if (trace_ != nullptr) {
        trace_->end_cases();
    }
    return true;
}

template <typename PairCover>
bool RegionClosing<PairCover>::certain_cost_at_least(double value, const DirectionNode& region, double& norm) {
    enable_region(region);
    for (const std::size_t sample : certain_) {
        solver_.enable(sample);
    }
    switch (solver_.solve(value)) {
        case MaxMarginStatus::threshold:
        case MaxMarginStatus::infeasible:
            return true;
        case MaxMarginStatus::optimal:
            if (const double certified = solver_.certify_solution(); certified > norm) {
                norm = certified;
                if (trace_ != nullptr) {
                    trace_->norm(solver_.certificate());
                }
            }
            candidate_(solver_);
            break;
        case MaxMarginStatus::failed:
            break;
    }
    return false;
}

template <typename PairCover>
void RegionClosing<PairCover>::enable_region(const DirectionNode& region) {
    solver_.clear();
    solver_.set_extra_rows(frame_.rows(region));
    for (std::size_t j = 0; j < 2 * frame_.dimension(); ++j) {
        solver_.enable(solver_.extra_row(j));
    }
    enabled_.clear(pairs_.positives(), pairs_.negatives());
}

// Rows that stay enabled stay in the solution, which is the warm start of the next solve.
template <typename PairCover>
void RegionClosing<PairCover>::enable_closure() {
    const auto positive = [this](std::size_t i) { return pairs_.positive(i); };
    const auto negative = [this](std::size_t j) { return pairs_.negative(j); };
    const auto flip_of = [this](const auto& sample) {
        return [this, sample](std::size_t number) { return solver_.flip_row(sample(number)); };
    };
    enable_changes(closure_.positive_kept, enabled_.positive_kept, positive);
    enable_changes(closure_.positive_given_up, enabled_.positive_given_up, flip_of(positive));
    enable_changes(closure_.negative_kept, enabled_.negative_kept, negative);
    enable_changes(closure_.negative_given_up, enabled_.negative_given_up, flip_of(negative));
}

// Few samples differ from one case to the next, so they are compared several at a time.
template <typename PairCover>
template <typename RowOf>
void RegionClosing<PairCover>::enable_changes(const std::vector<unsigned char>& wanted,
                                              std::vector<unsigned char>& enabled, const RowOf& row_of) {
    assert(wanted.size() == enabled.size());
    constexpr std::size_t at_a_time = 16;
    for (std::size_t begin = 0; begin < wanted.size(); begin += at_a_time) {
        const std::size_t end = std::min(begin + at_a_time, wanted.size());
        if (std::equal(&wanted[begin], &wanted[begin] + (end - begin), &enabled[begin])) {
            continue;
        }
        for (std::size_t number = begin; number < end; ++number) {
            if (wanted[number] == enabled[number]) {
                continue;
            }
            enabled[number] = wanted[number];
            if (wanted[number] != 0) {
                solver_.enable(row_of(number));
            } else {
                solver_.disable(row_of(number));
            }
        }
    }
}

template <typename PairCover>
bool RegionClosing<PairCover>::cost_at_least(double value) {
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

template <typename PairCover>
void RegionClosing<PairCover>::find_supports() {
    multipliers_.clear();
    for (const Multiplier& multiplier : solver_.certificate()) {
        // Certain samples are not given up in any case.
        if (solver_.rows().keeps(multiplier.row) && !samples_.certain(multiplier.row)) {
            multipliers_.push_back(multiplier);
        }
    }
    // If a case cannot be closed, it is likely to be one that gives up a sample with a large multiplier.
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
