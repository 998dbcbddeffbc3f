#include "directions/pair_conflicts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/kernels.h"

namespace hardmargin {

namespace {

// More than the total error of numbers that underflow in single precision.
constexpr double underflow = 1e-40;
// Thresholds for pairs are multiples of this if they are smaller.
constexpr double least_needed = 1e-30;
// More than the relative error of a few operations in single precision.
constexpr double single_share = 0x1p-22;
// The relative error of one operation in single precision, and how many there are in addition to those of a sum.
constexpr double single_unit = 0x1p-23;
constexpr std::size_t single_roundings = 7;
// Insets that add up to less than this share of what a typical pair varies by are not worth their time.
constexpr double least_inset_share = 1e-3;
// Samples of each class whose pairs give the typical differences.
constexpr std::size_t typical_samples = 100;
// The largest one in this many differences is left out of the mean, which a few distant samples would dominate.
constexpr std::size_t far_differences = 10;
// How many parts of parts are compared by one coordinate each, and what that adds to the errors, in units of
// single_unit times what is rounded (projections and reaches, or insets). In every part, the end is rounded once,
// and the half of its coordinate at most three times, when the values are converted, subtracted and doubled.
// Coordinates that are halved again contribute half as much, and with insets, the shift moves by up to twice the
// inset.
constexpr std::size_t most_parts = 8;
constexpr std::size_t part_roundings = 6 + most_parts;
constexpr std::size_t part_inset_roundings = 12 + 3 * most_parts;
// Words whose ends are stored: 1 MB of them for every region on the path to the current one, which stays in the
// cache, and 64 MB for the current one.
constexpr std::size_t most_words_of_level = std::size_t{1} << 12;
constexpr std::size_t most_words_stored = std::size_t{1} << 18;
// Words that are compared before `stop` is called: this takes some hundredths of a second.
constexpr std::size_t words_between_stops = std::size_t{1} << 20;

// Comparing a pair in one coordinate takes this much less time than a multiply-add of other searches, which are in
// double precision; halving a coordinate takes two such steps, and comparing the end of a range one.
constexpr std::size_t steps_per_multiply_add = 4;

float as_needed(double value) {
    return static_cast<float>(std::fabs(value) < least_needed ? std::floor(value) * least_needed : value);
}

// For the ends of this many words that are left undecided, and one more: the ends of decided words are overwritten
// by the next ones.
void make_room(AlignedVector<float>& ends, std::size_t words) {
    if (ends.size() < (words + 1) * word_bits) {
        ends.resize((words + 1) * word_bits);
    }
}

}  // namespace

PairConflicts::PairConflicts(const Samples& samples, const DirectionFrame& frame)
    : samples_(samples),
      frame_(frame),
      numbers_(samples.count()),
      typical_differences_(frame.dimension()),
      no_shift_(frame.dimension()) {
    for (std::size_t i = 0; i < samples.count(); ++i) {
        (samples.label(i) > 0 ? positives_ : negatives_).push_back(i);
    }
    words_ = (negatives() + word_bits - 1) / word_bits;
    const std::size_t in_last_word = negatives() % word_bits;
    last_word_ = in_last_word == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << in_last_word) - 1;
    number_samples();
    find_typical_differences();
}

void PairConflicts::number_samples() {
    for (const std::vector<std::size_t>* group : {&positives_, &negatives_}) {
        for (std::size_t place = 0; place < group->size(); ++place) {
            numbers_[(*group)[place]] = place;
        }
    }
    fill(positive_columns_, positives_);
    fill(negative_columns_, negatives_);
}

void PairConflicts::find_typical_differences() {
    // Evenly spaced in both classes.
    const std::size_t positive_step = std::max<std::size_t>(1, positives() / typical_samples);
    const std::size_t negative_step = std::max<std::size_t>(1, negatives() / typical_samples);
    std::vector<double> differences;
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        differences.clear();
        for (std::size_t i = 0; i < positives(); i += positive_step) {
            for (std::size_t j = 0; j < negatives(); j += negative_step) {
                differences.push_back(
                    std::fabs(frame_.coordinate(positives_[i], k) - frame_.coordinate(negatives_[j], k)));
            }
        }
        if (!differences.empty()) {
            const std::size_t count = differences.size() - differences.size() / far_differences;
            const auto end = differences.begin() + static_cast<std::ptrdiff_t>(count);
            std::nth_element(differences.begin(), end - 1, differences.end());
            typical_differences_[k] = std::accumulate(differences.begin(), end, 0.0) / static_cast<double>(count);
        }
    }
}

void PairConflicts::arrange(const DirectionNode& region) {
    level_of_large_ends_ = nullptr;
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
    number_samples();
}

void PairConflicts::fill(ClassColumns& columns, const std::vector<std::size_t>& samples) const {
    columns.padded = padded_size(samples.size(), word_bits);
    columns.coordinates.assign(columns.padded * frame_.dimension(), 0.0);
    columns.projections.assign(columns.padded, 0.0);
    columns.reaches.assign(columns.padded, 0.0);
    columns.sizes.assign(columns.padded, 0.0);
    columns.lows.assign(columns.padded, 0.0f);
    columns.highs.assign(columns.padded, 0.0f);
    columns.scaled.assign(columns.padded * frame_.dimension(), 0.0f);
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        for (std::size_t place = 0; place < samples.size(); ++place) {
            const double value = frame_.coordinate(samples[place], k);
            columns.coordinates[k * columns.padded + place] = value;
            columns.sizes[place] += std::fabs(value);
        }
    }
}

void PairConflicts::start(Level& level) const {
    level.conflicts.assign(positives() * words_, 0);
    level.undecided.clear();
    level.ends.stored = false;
    for (std::uint32_t i = 0; i < positives(); ++i) {
        for (std::uint32_t place = 0; place < words_; ++place) {
            level.undecided.push_back({i, place, place + 1 == words_ ? last_word_ : ~std::uint64_t{0}});
        }
    }
}

void PairConflicts::project(ClassColumns& columns, const DirectionNode& region, const std::vector<double>& shift) {
    const std::size_t padded = columns.padded;
    std::fill(columns.projections.begin(), columns.projections.end(), 0.0);
    std::fill(columns.reaches.begin(), columns.reaches.end(), 0.0);
    used_ = 0;
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        add_scaled(columns.projections.data(), 0.5 * (region.low[k] + region.high[k]),
                   columns.coordinates.data() + k * padded, padded);
        const double radius = 0.5 * (region.high[k] - region.low[k]);
        if (radius > 0) {
            const double* coordinates = columns.coordinates.data() + k * padded;
            float* scaled = columns.scaled.data() + used_ * padded;
            for (std::size_t place = 0; place < padded; ++place) {
                const double value = radius * (coordinates[place] - shift[k]);
                scaled[place] = static_cast<float>(0.5 * value);
                columns.reaches[place] += std::fabs(value);
            }
            ++used_;
        }
    }
    // Every number in single precision is rounded a few times, and a sum of `used_` of them once per term. The
    // terms add up to at most the projection and the reach of each sample of a pair. Numbers in double precision
    // have errors relative to the size of the sample, and coordinates have an error of DirectionFrame::rounding.
    const double share = single_unit * static_cast<double>(used_ + single_roundings + part_roundings);
    for (std::size_t place = 0; place < padded; ++place) {
        const double projection = columns.projections[place];
        const double error = share * (std::fabs(projection) + columns.reaches[place]) +
                             2 * DirectionFrame::rounding * columns.sizes[place] + underflow;
        columns.lows[place] = static_cast<float>(projection - error);
        columns.highs[place] = static_cast<float>(projection + error);
    }
    work_ += 3 * padded * frame_.dimension();
}

double PairConflicts::find_insets(const DirectionNode& region, double curvature) {
    insets_.clear();
    double total = 0;
    double variation = 0;
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        const double radius = 0.5 * (region.high[k] - region.low[k]);
        if (radius > 0) {
            const double inset = curvature * radius * radius;
            insets_.push_back(static_cast<float>(inset * (1 - single_share)));
            total += inset;
            variation += radius * typical_differences_[k];
        }
    }
    if (!(total >= least_inset_share * variation)) {
        insets_.clear();
        return 0;
    }
    return total;
}

void PairConflicts::decide(const DirectionNode& region, const Level& around, Level& level,
                           const std::function<bool()>& stop) {
    assert(region.low.size() == frame_.dimension() && region.high.size() == frame_.dimension());
    assert(around.conflicts.size() == positives() * words_);
    if (&level != &around) {
        level.conflicts = around.conflicts;
        level.undecided.resize(around.undecided.size());
    }
    if (!compare_part(region, around, level)) {
        compare(region, around, level, stop);
    }
}

void PairConflicts::compare(const DirectionNode& region, const Level& around, Level& level,
                            const std::function<bool()>& stop) {
    constexpr double share = single_share;
    const double least = region.least_length();
    const double greatest = region.greatest_length();
    Ends& ends = level.ends;
    ends.curvature = 2 / region.longest * (1 - share) / (least + greatest);
    ends.low = region.low;
    ends.high = region.high;
    ends.shift.resize(frame_.dimension());
    double middle = 0;  // the squared length of the middle of the box
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        const double center = 0.5 * (region.low[k] + region.high[k]);
        middle += center * center;
        ends.shift[k] = 2 * ends.curvature * center;
    }
    const double insets = find_insets(region, ends.curvature);
    ends.with_insets = insets > 0;
    ends.offset = ends.curvature * middle - single_unit * static_cast<double>(part_inset_roundings) * insets;
    double needed_shortest = std::numeric_limits<double>::infinity();
    if (region.shortest > 0) {
        // What the least lengths need, minus the part of the range that is due to the shift.
        const double at_shortest = 2 / region.shortest;
        const double typical = std::sqrt(0.5 * (least * least + greatest * greatest));
        needed_shortest = 2 * ends.curvature * middle + 0.5 * at_shortest * typical;
        for (std::size_t k = 0; k < frame_.dimension(); ++k) {
            const auto needed = [&](double value) {
                return (0.5 * at_shortest / typical * value - ends.shift[k]) * value;
            };
            needed_shortest += std::max(needed(region.low[k]), needed(region.high[k]));
        }
        needed_shortest += share * std::fabs(needed_shortest);
    }
    project(positive_columns_, region, ends.shift);
    project(negative_columns_, region, no_shift_);
    const PairRanges ranges{positive_columns_.scaled.data(),
                            positive_columns_.padded,
                            positive_columns_.lows.data(),
                            positive_columns_.highs.data(),
                            negative_columns_.scaled.data(),
                            negative_columns_.padded,
                            negative_columns_.lows.data(),
                            negative_columns_.highs.data(),
                            used_,
                            ends.with_insets ? insets_.data() : nullptr,
                            as_needed(needed_in(region, ends)),
                            static_cast<float>(std::max(needed_shortest, least_needed))};
    work_ += around.undecided.size() * word_bits * (used_ + 1) / steps_per_multiply_add;
    const std::size_t count = around.undecided.size();
    const bool remember = count <= most_words_stored;
    ends.stored = count <= most_words_of_level;
    ends.parts_left = most_parts;
    AlignedVector<float>& values = ends.stored ? ends.values : large_ends_;
    make_room(values, remember ? count : 0);
    float* end = values.data();
    Word* kept = level.undecided.data();
    std::size_t compared = 0;
    bool stopped = false;
    for (const Word& word : around.undecided) {
        stopped = stopped || (++compared % words_between_stops == 0 && stop());
        if (stopped) {
            *kept++ = word;
            continue;
        }
        const PairBits bits = compare_pairs(ranges, word.positive, word.place * word_bits, word.pairs, end);
        const std::uint64_t conflicts = word.pairs & bits.below;
        level.conflicts[word.positive * words_ + word.place] |= conflicts;
        const std::uint64_t undecided = word.pairs & bits.reaching & ~conflicts;
        *kept = {word.positive, word.place, undecided};
        kept += undecided != 0;
        end += remember && undecided != 0 ? word_bits : 0;
    }
    level.undecided.resize(static_cast<std::size_t>(kept - level.undecided.data()));
    static_assert(words_between_stops > most_words_stored, "a comparison that is stopped stores nothing");
    level_of_large_ends_ = remember && !ends.stored ? &level : nullptr;
}

double PairConflicts::needed_in(const DirectionNode& region, const Ends& ends) const {
    const double at_longest = 2 / region.longest * (1 - single_share);
    const auto needed = [&](double length) { return (at_longest - ends.curvature * length) * length; };
    const double in_box = std::min(needed(region.least_length()), needed(region.greatest_length()));
    return (in_box + ends.offset) - single_share * (std::fabs(in_box) + ends.offset);
}

bool PairConflicts::compare_part(const DirectionNode& region, const Level& around, Level& level) {
    const Ends& whole = around.ends;
    if (&level == &around || !whole.stored || whole.parts_left == 0) {
        return false;
    }
    // The coordinate that was halved, if any.
    const std::size_t none = frame_.dimension();
    std::size_t halved = none;
    double sign = 0;
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        if (region.low[k] == whole.low[k] && region.high[k] == whole.high[k]) {
            continue;
        }
        const double middle = 0.5 * (whole.low[k] + whole.high[k]);
        const bool is_low = region.low[k] == whole.low[k] && region.high[k] == middle;
        const bool is_high = region.high[k] == whole.high[k] && region.low[k] == middle;
        if (halved != none || !(is_low || is_high)) {
            return false;
        }
        halved = k;
        sign = is_low ? -1 : 1;
    }
    Ends& ends = level.ends;
    ends.stored = true;
    ends.parts_left = whole.parts_left - 1;
    ends.low = region.low;
    ends.high = region.high;
    ends.offset = whole.offset;
    ends.curvature = whole.curvature;
    ends.with_insets = whole.with_insets;
    ends.shift = whole.shift;
    const std::size_t count = around.undecided.size();
    make_room(ends.values, count);
    positive_halves_.assign(positive_columns_.padded, 0.0f);
    negative_halves_.assign(negative_columns_.padded, 0.0f);
    double inset = 0;
    if (halved != none) {
        const double radius = 0.5 * (whole.high[halved] - whole.low[halved]);
        const double factor = 0.5 * sign * radius;
        const double* positives = positive_columns_.coordinates.data() + halved * positive_columns_.padded;
        const double* negatives = negative_columns_.coordinates.data() + halved * negative_columns_.padded;
        for (std::size_t i = 0; i < positive_columns_.padded; ++i) {
            positive_halves_[i] = static_cast<float>(factor * (positives[i] - whole.shift[halved]));
        }
        for (std::size_t j = 0; j < negative_columns_.padded; ++j) {
            negative_halves_[j] = static_cast<float>(factor * negatives[j]);
        }
        if (whole.with_insets) {
            inset = whole.curvature * radius * radius * (1 + single_share);
            ends.shift[halved] = whole.curvature * (region.low[halved] + region.high[halved]);
        }
        work_ += positive_columns_.padded + negative_columns_.padded;
    }
    work_ += 2 * count * word_bits / steps_per_multiply_add;
    const PairHalves halves{positive_halves_.data(), negative_halves_.data(), static_cast<float>(inset),
                            as_needed(needed_in(region, ends))};
    assert(whole.values.size() >= count * word_bits);
    const float* end_before = whole.values.data();
    float* end = ends.values.data();
    Word* kept = level.undecided.data();
    for (const Word& word : around.undecided) {
        const std::uint64_t conflicts =
            halve_pairs(halves, word.positive, word.place * word_bits, word.pairs, end_before, end);
        level.conflicts[word.positive * words_ + word.place] |= conflicts;
        const std::uint64_t undecided = word.pairs & ~conflicts;
        *kept = {word.positive, word.place, undecided};
        kept += undecided != 0;
        end += undecided != 0 ? word_bits : 0;
        end_before += word_bits;
    }
    level.undecided.resize(static_cast<std::size_t>(kept - level.undecided.data()));
    return true;
}

void PairConflicts::shorten(const DirectionNode& region, Level& level, const std::function<bool()>& stop) {
    if (!level.ends.stored && level_of_large_ends_ != &level) {
        compare(region, level, level, stop);
        return;
    }
    assert(region.low == level.ends.low && region.high == level.ends.high);
    const float limit = as_needed(needed_in(region, level.ends));
    work_ += level.undecided.size() * word_bits / steps_per_multiply_add;
    const AlignedVector<float>& values = level.ends.stored ? level.ends.values : large_ends_;
    assert(values.size() >= level.undecided.size() * word_bits);
    const float* ends = values.data();
    for (Word& word : level.undecided) {
        const std::uint64_t conflicts = compare_ends(ends, limit, word.pairs);
        level.conflicts[word.positive * words_ + word.place] |= conflicts;
        word.pairs &= ~conflicts;
        ends += word_bits;
    }
}

}  // namespace hardmargin
