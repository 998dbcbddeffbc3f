#include "directions/region_packing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/bits.h"
#include "base/hyperplane.h"
#include "base/kernels.h"
#include "base/rounding.h"

namespace hardmargin {

namespace {

// A hyperplane of a larger region counts as inside this one if it misses no side by more than this share.
constexpr double row_rounding = 1e-9;
// If no more sets than this are missing, the region may be closed without them.
constexpr std::size_t few_missing = 2;

}  // namespace

RegionPacking::RegionPacking(const Samples& samples, const DirectionFrame& frame, const PairConflicts& pairs,
                             ConflictMatching& matching, MaxMargin& solver)
    : samples_(samples),
      frame_(frame),
      pairs_(pairs),
      matching_(matching),
      solver_(solver),
      in_set_(samples.count()),
      left_negatives_(pairs.words()),
      pool_negatives_(pairs.words()),
      middle_(samples.stride()),
      margins_(samples.padded_count()) {}

bool RegionPacking::find(const DirectionNode& region, const Level& level, State& state, std::size_t wanted,
                         const Cutoff& cutoff, const RegionSets& around, RegionSets& found) {
    inherit(state, around, found);
    if (found.sets.size() >= wanted) {
        return true;
    }
    find_pool(level, state);
    if (around.kept && pool_is_kept(region, around)) {
        found.kept = true;
        found.weights = around.weights;
        found.bias = around.bias;
    } else if (pack(region, state, wanted, cutoff, found)) {
        return true;
    }
    if (!found.kept || wanted - found.sets.size() <= few_missing) {
        return false;
    }
    // A pair of which the hyperplane keeps neither sample may allow another set after an exchange.
    samples_.margins(found.weights.data(), found.bias, margins_.data());
    if (matching_.exchange(level, state, found.sets, margins_) == 0) {
        return false;
    }
    find_pool(level, state);
    return pack(region, state, wanted, cutoff, found);
}

void RegionPacking::inherit(const State& state, const RegionSets& around, RegionSets& found) {
    found.clear();
    std::fill(in_set_.begin(), in_set_.end(), static_cast<unsigned char>(0));
    for (const MustHitSet& set : around.sets) {
        if (std::any_of(set.begin(), set.end(),
                        [&](std::uint32_t sample) { return matching_.matched(state, sample); })) {
            continue;
        }
        found.sets.push_back(set);
        for (const std::uint32_t sample : set) {
            in_set_[sample] = 1;
        }
    }
}

void RegionPacking::find_pool(const Level& level, const State& state) {
    std::fill(left_negatives_.begin(), left_negatives_.end(), 0);
    std::fill(pool_negatives_.begin(), pool_negatives_.end(), 0);
    for (std::size_t j = 0; j < pairs_.negatives(); ++j) {
        const bool left = state.partner_of_negative[j] < 0 && in_set_[pairs_.negative(j)] == 0;
        left_negatives_[j / word_bits] |= static_cast<std::uint64_t>(left) << (j % word_bits);
    }
    in_pool_.assign(pairs_.positives(), 0);
    pool_.clear();
    std::size_t last = pairs_.positives();
    // Words are sorted by positives.
    for (const PairConflicts::Word& word : level.undecided) {
        const std::uint64_t bits = word.pairs & left_negatives_[word.place];
        const std::size_t positive = pairs_.positive(word.positive);
        if (bits == 0 || state.partner_of_positive[word.positive] >= 0 || in_set_[positive] != 0) {
            continue;
        }
        pool_negatives_[word.place] |= bits;
        if (word.positive != last) {
            in_pool_[word.positive] = 1;
            pool_.push_back(static_cast<std::uint32_t>(positive));
            last = word.positive;
        }
    }
    // Certain samples are kept beside every set.
    for (std::size_t i = 0; i < pairs_.positives(); ++i) {
        if (samples_.certain(pairs_.positive(i)) && in_pool_[i] == 0) {
            pool_.push_back(static_cast<std::uint32_t>(pairs_.positive(i)));
        }
    }
    for (std::size_t j = 0; j < pairs_.negatives(); ++j) {
        if (samples_.certain(pairs_.negative(j))) {
            set_bit(pool_negatives_.data(), j);
        }
    }
    for (std::size_t place = 0; place < pool_negatives_.size(); ++place) {
        for (std::uint64_t bits = pool_negatives_[place]; bits != 0; bits &= bits - 1) {
            const std::size_t j = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
            pool_.push_back(static_cast<std::uint32_t>(pairs_.negative(j)));
        }
    }
}

bool RegionPacking::pool_is_kept(const DirectionNode& region, const RegionSets& around) const {
    const double* weights = around.weights.data();
    const std::size_t stride = samples_.stride();
    for (const ExtraRow& row : frame_.rows(region)) {
        if (dot(row.normal.data(), weights, stride) < row.bound - row_rounding * std::fabs(row.bound)) {
            return false;
        }
    }
    return std::all_of(pool_.begin(), pool_.end(), [&](std::uint32_t sample) {
        return samples_.margin(sample, weights, around.bias) >= nearly_kept_margin;
    });
}

bool RegionPacking::pack(const DirectionNode& region, const State& state, std::size_t wanted, const Cutoff& cutoff,
                         RegionSets& found) {
    found.kept = false;
    solver_.clear();
    solver_.set_extra_rows(frame_.rows(region));
    for (std::size_t j = 0; j < 2 * frame_.dimension(); ++j) {
        solver_.enable(solver_.extra_row(j));
    }
    for (const std::uint32_t sample : pool_) {
        solver_.enable(sample);
    }
    solver_.set_pool(pool_);
    frame_.longest_middle(region, middle_.data());
    solver_.set_origin(middle_);
    for (;;) {
        const double given_up = matching_.cost_of(state.size + found.sets.size());
        const MaxMarginStatus status = solver_.solve();
        if (status == MaxMarginStatus::optimal) {
            found.kept = true;
            found.weights.assign(solver_.weights().begin(), solver_.weights().end());
            found.bias = solver_.bias();
        }
        if (status != MaxMarginStatus::infeasible ||
            !(solver_.certificate_value() >= cutoff.room(safely_below(given_up)))) {
            return false;
        }
        if (trace_ != nullptr) {
            trace_->cover(region, state);
            trace_->set(solver_.certificate());
        }
        MustHitSet set;
        for (const Multiplier& multiplier : solver_.certificate()) {
            if (solver_.rows().keeps(multiplier.row) && !samples_.certain(multiplier.row)) {
                set.push_back(static_cast<std::uint32_t>(multiplier.row));
                in_set_[multiplier.row] = 1;
            }
        }
        // If the set is empty, the sides of the region and the certain samples alone need too long a w.
        const bool too_long = set.empty();
        found.sets.push_back(std::move(set));
        if (too_long || found.sets.size() >= wanted) {
            return true;
        }
        for (const std::uint32_t sample : found.sets.back()) {
            solver_.disable(sample);
        }
    }
}

}  // namespace hardmargin
