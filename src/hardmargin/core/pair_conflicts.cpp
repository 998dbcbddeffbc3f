#include "pair_conflicts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"

namespace hardmargin {

PairConflicts::PairConflicts(const Samples& samples, const DirectionFrame& frame)
    : samples_(samples), frame_(frame), mean_differences_(frame.dimension()) {
    for (std::size_t i = 0; i < samples.count(); ++i) {
        (samples.label(i) > 0 ? positives_ : negatives_).push_back(i);
    }
    words_ = (negatives() + word_bits - 1) / word_bits;
    const std::size_t in_last_word = negatives() % word_bits;
    last_word_ = in_last_word == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << in_last_word) - 1;
    fill(positive_columns_, positives_);
    fill(negative_columns_, negatives_);
    // All pairs of up to some hundreds of each class, evenly picked.
    constexpr std::size_t enough = 300;
    const std::size_t positive_step = std::max<std::size_t>(1, positives() / enough);
    const std::size_t negative_step = std::max<std::size_t>(1, negatives() / enough);
    std::size_t count = 0;
    for (std::size_t i = 0; i < positives(); i += positive_step) {
        for (std::size_t j = 0; j < negatives(); j += negative_step, ++count) {
            for (std::size_t k = 0; k < frame.dimension(); ++k) {
                mean_differences_[k] +=
                    std::fabs(frame.coordinate(positives_[i], k) - frame.coordinate(negatives_[j], k));
            }
        }
    }
    for (double& mean : mean_differences_) {
        mean /= static_cast<double>(std::max<std::size_t>(count, 1));
    }
}

void PairConflicts::arrange(const DirectionNode& region) {
    std::vector<double> projections(samples_.count());
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        for (std::size_t k = 0; k < frame_.dimension(); ++k) {
            projections[i] += 0.5 * (region.low[k] + region.high[k]) * frame_.coordinate(i, k);
        }
    }
    for (std::vector<std::size_t>* group : {&positives_, &negatives_}) {
        std::sort(group->begin(), group->end(), [&](std::size_t left, std::size_t right) {
            return projections[left] < projections[right] ||
                   (projections[left] == projections[right] && left < right);
        });
    }
    fill(positive_columns_, positives_);
    fill(negative_columns_, negatives_);
}

void PairConflicts::fill(Columns& columns, const std::vector<std::size_t>& samples) const {
    columns.padded = padded_size(samples.size(), word_bits);
    columns.coordinates.assign(columns.padded * frame_.dimension(), 0.0);
    columns.projections.assign(columns.padded, 0.0);
    columns.rounded_projections.assign(columns.padded, 0.0f);
    columns.scaled.assign(columns.padded * frame_.dimension(), 0.0f);
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        for (std::size_t place = 0; place < samples.size(); ++place) {
            columns.coordinates[k * columns.padded + place] = frame_.coordinate(samples[place], k);
        }
    }
}

void PairConflicts::start(Level& level) const {
    level.conflicts.assign(positives() * words_, 0);
    level.undecided.clear();
    for (std::uint32_t i = 0; i < positives(); ++i) {
        for (std::uint32_t place = 0; place < words_; ++place) {
            level.undecided.push_back({i, place, place + 1 == words_ ? last_word_ : ~std::uint64_t{0}});
        }
    }
}

void PairConflicts::project(Columns& columns, const DirectionNode& region) {
    const std::size_t padded = columns.padded;
    std::fill(columns.projections.begin(), columns.projections.end(), 0.0);
    columns.largest = 0;
    used_ = 0;
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        const double* coordinates = &columns.coordinates[k * padded];
        add_scaled(columns.projections.data(), 0.5 * (region.low[k] + region.high[k]), coordinates, padded);
        const auto radius = static_cast<float>(0.5 * (region.high[k] - region.low[k]));
        if (radius > 0) {
            float* scaled = &columns.scaled[used_ * padded];
            for (std::size_t place = 0; place < padded; ++place) {
                scaled[place] = radius * static_cast<float>(coordinates[place]);
            }
            columns.largest += radius * frame_.widest();
            ++used_;
        }
    }
    double largest = 0;
    for (std::size_t place = 0; place < padded; ++place) {
        columns.rounded_projections[place] = static_cast<float>(columns.projections[place]);
        largest = std::max(largest, std::fabs(columns.projections[place]));
    }
    columns.largest += largest;
    work_ += padded * (frame_.dimension() + used_);
}

void PairConflicts::decide(const DirectionNode& region, const Level& around, Level& level) {
    project(positive_columns_, region);
    project(negative_columns_, region);
    const double size = positive_columns_.largest + negative_columns_.largest;
    // Every number is rounded a few times, sums of `used_` of them once a term.
    constexpr double float_rounding = 0x1p-23;
    const double slack = float_rounding * static_cast<double>(used_ + 6) * size +
                         DirectionFrame::rounding * static_cast<double>(frame_.dimension()) * frame_.widest();
    const double conflict_below = 2 / region.longest * (1 - 2 * float_rounding) - slack;
    const double kept_from = region.shortest > 0 ? 2 / region.shortest * (1 + 2 * float_rounding) + slack
                                                 : std::numeric_limits<double>::infinity();
    const PairRanges ranges{positive_columns_.scaled.data(),
                            positive_columns_.padded,
                            positive_columns_.rounded_projections.data(),
                            negative_columns_.scaled.data(),
                            negative_columns_.padded,
                            negative_columns_.rounded_projections.data(),
                            used_,
                            static_cast<float>(conflict_below),
                            static_cast<float>(kept_from)};
    if (&level != &around) {
        level.conflicts = around.conflicts;
        level.undecided.resize(around.undecided.size());
    }
    work_ += around.undecided.size() * word_bits * (used_ + 1) / 2;
    Word* kept = level.undecided.data();
    for (const Word& word : around.undecided) {
        const PairBits bits = compare_pairs(ranges, word.positive, word.place * word_bits, word.pairs);
        const std::uint64_t conflicts = word.pairs & bits.below;
        level.conflicts[word.positive * words_ + word.place] |= conflicts;
        const std::uint64_t undecided = word.pairs & bits.reaching & ~conflicts;
        *kept = {word.positive, word.place, undecided};
        kept += undecided != 0;
    }
    level.undecided.resize(static_cast<std::size_t>(kept - level.undecided.data()));
}

}  // namespace hardmargin
