// Which pairs of opposite samples cannot both be kept by any hyperplane of a region of directions.
//
// For some bias, w keeps both a positive i and a negative j if and only if w.(x_i - x_j) >= 2. For w along s this
// is s.(x_i - x_j) >= 2 ||s|| / ||w||. Let l and h be the least and the greatest length of an s in the box. For any
// k >= 0, the function 2 / longest r - k r^2 of r is concave, so between l and h it is at least
//
//     needed = min(2 / longest l - k l^2, 2 / longest h - k h^2).
//
// So a pair conflicts everywhere in the region if s.(x_i - x_j) - k ||s||^2 < needed for all s of the box. The left
// side is a sum of concave functions of one coordinate each. The best k is 2 / longest / (l + h), for which the two
// values are equal. With the middle c of the box in a coordinate and its radius r there, d the difference of the
// pair and s = c + t:
//
//     d s - k s^2 = d c - k c^2 + g t - k t^2   with   g = d - 2 k c,
//     g t - k t^2 <= |g| r / 2 + max(0, |g| r / 2 - k r^2)   for |t| <= r.
//
// The maximum is at the corner if |g| r / 2 >= k r^2, where both sides are equal, and is g^2 / (4 k) <= |g| r / 2
// otherwise. If k r^2 is small compared to the differences, it is left out, which only makes the right side larger.
//
// Conversely, ||s|| <= (m + ||s||^2 / m) / 2 for any m > 0, and the maximum of a convex function over an interval
// is at one of its ends. So a pair conflicts everywhere, nowhere, or is undecided, and decided pairs stay decided
// in every part of the region. A region inherits the conflicts of the region it is part of, and examines only the
// undecided pairs.
//
// A part of a region differs from it in one coordinate. If k stays the same, only the terms of that coordinate
// change. Let the part be the half on the side of t = sign r, and v = sign g r / 2. The terms of the region are
// |v| + max(0, |v| - k r^2). Those of the half, with its own middle and radius, are
//
//     v - k r^2 / 4 + |v / 2 - k r^2 / 4| + max(0, |v / 2 - k r^2 / 4| - k r^2 / 4),
//
// which is at most the terms of the region plus min(0, v, 2 v + k r^2). In units of k r^2:
//
//     v              up to -1   to 0   to 1/2   to 1             from 1 on
//     region + min   0          0      v        v                2 v - 1
//     half           0          0      v / 2    3 v / 2 - 1/2    2 v - 1
//
// If k t^2 is left out, the maximum of g t changes by min(0, 2 v), where g stays that of the box in which all
// coordinates were compared. What is needed follows from k and the lengths in the part. After some parts of parts,
// all coordinates are compared again, with the best k of that part.
//
// Pairs are compared in single precision. A bound on the error of that and of the coordinates is computed for every
// sample in every region, from the sizes of the numbers compared, and widens the ranges of its pairs. So small
// features still distinguish samples once the region is so narrow in the large ones that these no longer matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/aligned.h"
#include "base/control.h"
#include "base/samples.h"
#include "directions/frame.h"
#include "directions/node.h"

namespace hardmargin {

class PairConflicts {
public:
    // Pairs of one positive with the negatives of one word, one bit per pair.
    struct Word {
        std::uint32_t positive;
        std::uint32_t place;
        std::uint64_t pairs;
    };

    // Where the ranges of undecided pairs end in a box.
    struct Ends {
        AlignedVector<float> values;  // `word_bits` for each undecided word
        bool stored = false;
        std::size_t parts_left = 0;  // how many parts of parts may follow before all coordinates are compared again
        std::vector<double> low;     // the box
        std::vector<double> high;
        // The k of the box in which all coordinates were compared, and k ||c||^2 there minus rounding errors, which
        // is not part of the ends.
        double curvature = 0;
        double offset = 0;
        bool with_insets = false;  // the terms k t^2 are part of the ends
        // 2 k c, of this box with insets, and otherwise of the box in which all coordinates were compared.
        std::vector<double> shift;
    };

    // What is known about the pairs in a region.
    struct Level {
        std::vector<std::uint64_t> conflicts;  // one row of words() per positive
        std::vector<Word> undecided;
        Ends ends;

        std::size_t size_in_memory() const {
            return conflicts.capacity() * sizeof(std::uint64_t) + undecided.capacity() * sizeof(Word) +
                   ends.values.capacity() * sizeof(float);
        }
    };

    PairConflicts(const Samples& samples, const DirectionFrame& frame);

    std::size_t positives() const { return positives_.size(); }
    std::size_t negatives() const { return negatives_.size(); }
    std::size_t words() const { return words_; }
    // The sample that is positive i, or negative j.
    std::size_t positive(std::size_t i) const { return positives_[i]; }
    std::size_t negative(std::size_t j) const { return negatives_[j]; }
    // The number of a sample among the positives or the negatives.
    std::size_t number(std::size_t sample) const { return numbers_[sample]; }

    // Sorts the samples along the middle direction of a region, so that undecided pairs share words. Invalidates
    // all levels.
    void arrange(const DirectionNode& region);
    // The level at which nothing is known.
    void start(Level& level) const;
    // Decides pairs in `region`, given what is known in an enclosing region; `level` may be `around`. If `stop`
    // returns true, the other pairs stay undecided.
    void decide(const DirectionNode& region, const Level& around, Level& level,
                const std::function<bool()>& stop = never);
    // Decides more pairs after the greatest length of a region has been reduced. decide() must have been called
    // before, for the same box and level. It has stored where the range of every pair ends, unless there are too
    // many, so pairs are not compared again. What is decided is correct, but may be slightly less than comparing
    // all coordinates would find.
    void shorten(const DirectionNode& region, Level& level, const std::function<bool()>& stop = never);

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
    std::uint64_t last_word_ = 0;  // the bits of the last word that are in use
    std::vector<double> typical_differences_;
    // The samples of one class in order, to evaluate all of them at once.
    struct ClassColumns {
        std::size_t padded = 0;
        std::vector<double> coordinates;  // by columns, `padded` apart
        std::vector<double> sizes;        // the sum of a sample's absolute coordinates
        std::vector<double> projections;  // on the middle direction of the region
        std::vector<double> reaches;      // bounds on their deviation from that inside the region
        std::vector<float> lows;          // the projections minus and plus their error bounds
        std::vector<float> highs;
        std::vector<float> scaled;  // the coordinates that vary in the region, shifted, times half its radius
    };

    void find_typical_differences();
    // Numbers the samples of both classes in their current order.
    void number_samples();
    void fill(ClassColumns& columns, const std::vector<std::size_t>& samples) const;
    // Computes what depends on the region; `shift` is subtracted from the coordinates but not from the projections.
    void project(ClassColumns& columns, const DirectionNode& region, const std::vector<double>& shift);
    // Computes insets_ for this curvature k. Returns their sum, 0 if they are left out.
    double find_insets(const DirectionNode& region, double curvature);
    // decide() by comparing all coordinates.
    void compare(const DirectionNode& region, const Level& around, Level& level, const std::function<bool()>& stop);
    // decide() by the coordinate in which the region differs from the one around it; whether that was possible.
    bool compare_part(const DirectionNode& region, const Level& around, Level& level);
    // What the ends of ranges in the box are compared with, for the region's greatest length.
    double needed_in(const DirectionNode& region, const Ends& ends) const;

    ClassColumns positive_columns_;
    ClassColumns negative_columns_;
    std::size_t used_ = 0;       // coordinates that vary in the region
    std::vector<float> insets_;  // k r^2 in each of them; empty if left out
    const std::vector<double> no_shift_;
    std::vector<float> positive_halves_;  // the coordinate that was halved
    std::vector<float> negative_halves_;
    // The ends of a level that has too many to store them itself, while it is the last one that was decided.
    AlignedVector<float> large_ends_;
    const Level* level_of_large_ends_ = nullptr;
    std::uint64_t work_ = 0;
};

}  // namespace hardmargin
