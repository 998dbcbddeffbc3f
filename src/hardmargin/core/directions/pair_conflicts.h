// Which pairs of opposite samples cannot both be kept by any hyperplane of a region of directions.
//
// A positive i and a negative j can both be kept by w, whatever the bias is, if and only if w.(x_i - x_j) >= 2. For
// w along s that is s.(x_i - x_j) >= 2 ||s|| / ||w||. Let a be the unit vector along the shortest s of the region:
// ||s|| >= a.s, so that a pair conflicts everywhere if s.(x_i - x_j - 2 a / longest) < 0 for all s of the box; and
// ||s|| is not much more than a.s (DirectionNode::bulge). The smallest and the largest value over a box are known
// in closed form. So a pair conflicts everywhere, nowhere, or is undecided; and what is decided stays decided in
// every part of the region. A region inherits the conflicts of the one it is a part of, and only looks at the pairs
// left undecided.
//
// Pairs are compared in single precision. What that and the rounding of coordinates can be wrong by is added up for
// every sample of every region, from the sizes of the numbers that are compared, and widens the range of its pairs.
// So samples are told apart by features that are far smaller than others, once the region leaves these no say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/samples.h"
#include "directions/frame.h"
#include "directions/node.h"

namespace hardmargin {

class PairConflicts {
public:
    // Pairs of one positive with the negatives of one word; a bit each.
    struct Word {
        std::uint32_t positive;
        std::uint32_t place;
        std::uint64_t pairs;
    };

    // What is known about the pairs in a region.
    struct Level {
        std::vector<std::uint64_t> conflicts;  // a row of words() for each positive
        std::vector<Word> undecided;
    };

    PairConflicts(const Samples& samples, const DirectionFrame& frame);

    std::size_t positives() const { return positives_.size(); }
    std::size_t negatives() const { return negatives_.size(); }
    std::size_t words() const { return words_; }
    // The sample that is positive i, or negative j.
    std::size_t positive(std::size_t i) const { return positives_[i]; }
    std::size_t negative(std::size_t j) const { return negatives_[j]; }
    // Which positive, or which negative, a sample is.
    std::size_t number(std::size_t sample) const { return numbers_[sample]; }

    // Orders the samples along the middle direction of a region, so that undecided pairs share words; levels from
    // before are void.
    void arrange(const DirectionNode& region);
    // Nothing is known.
    void start(Level& level) const;
    // Decides what can be decided in `region`, given what is known in a region around it; `level` may be `around`.
    void decide(const DirectionNode& region, const Level& around, Level& level);
    // Decides what more can be decided when the region's greatest length has fallen since decide(), which must have
    // been the last one called, for the same box and the same level. It knows where the range of every pair ends,
    // so that pairs need not be compared again; what it decides is right, but may be a little less.
    void shorten(const DirectionNode& region, Level& level);

    // The mean of |x_i - x_j| in coordinate k over most pairs.
    double typical_difference(std::size_t k) const { return typical_differences_[k]; }
    std::uint64_t work() const { return work_; }

private:
    const Samples& samples_;
    const DirectionFrame& frame_;
    std::vector<std::size_t> positives_;
    std::vector<std::size_t> negatives_;
    std::vector<std::size_t> numbers_;  // by samples
    std::size_t words_ = 0;
    std::uint64_t last_word_ = 0;  // bits of the last word that are negatives
    std::vector<double> typical_differences_;
    // The samples of one class in order, for evaluating all of them at once.
    struct ClassColumns {
        std::size_t padded = 0;
        std::vector<double> coordinates;  // a column each, `padded` apart
        std::vector<double> sizes;        // the sum of a sample's absolute coordinates
        std::vector<double> projections;  // on the middle of the region
        std::vector<double> reaches;      // how far they go from there inside the region, at most
        std::vector<float> lows;          // the projections, less and plus what they may be wrong by
        std::vector<float> highs;
        std::vector<float> scaled;  // the coordinates that vary in the region, shifted, times the region's radius
    };

    void find_typical_differences();
    // Takes the samples of both classes in the order that they are in.
    void number_samples();
    void fill(ClassColumns& columns, const std::vector<std::size_t>& samples) const;
    // All that depends on the region; `shift` is taken off the coordinates, but not off the projections.
    void project(ClassColumns& columns, const DirectionNode& region, const std::vector<double>& shift);

    ClassColumns positive_columns_;
    ClassColumns negative_columns_;
    std::size_t used_ = 0;  // coordinates that vary in the region
    // What shorten() needs of the last decide(): s.(x_i - x_j) - at_longest_ a.s is at most the end of the pair's
    // range less needed_, and a.s is at least least_.
    std::vector<float> ends_;  // `word_bits` for each undecided word; empty if there are too many
    double needed_ = 0;
    double at_longest_ = 0;
    double least_ = 0;
    std::vector<double> shift_;
    const std::vector<double> no_shift_;
    std::uint64_t work_ = 0;
};

}  // namespace hardmargin
