// The best offset and scale for a given direction, exactly.
//
// Along a direction s only the projections s.x matter. A hyperplane w = t s keeps the negatives up to some
// projection h and the positives from some projection u > h on; the best scale for that is t = 2 / (u - h). So the
// optimum is one of the pairs (h, u) of a negative's and a positive's projection, or it gives up the cheaper class.
// A pair costs
//
//     f(h, u) = 2 ||s||^2 / (u - h)^2 + cost of the negatives above h + cost of the positives below u,
//
// and infinity if u <= h. With few samples all pairs are scanned: both classes are sorted, and for each h the loop
// over u ends as soon as the violations alone cost more than the best pair.
//
// With many samples a divide and conquer takes O(n log n). Let h < h' and u < u'. If f(h', u) is finite, so are the
// other three values, and because 1 / x^2 is convex,
//
//     f(h, u) + f(h', u') <= f(h, u') + f(h', u):
//
// the differences on the left lie between those on the right and have the same sum. If f(h', u) is infinite, this
// holds as well. So f is a Monge matrix, and the first best u does not fall as h rises. The best u of the middle h
// therefore bounds the best u of all h below it and above it.
//
// Most samples cannot take part: a pair that is better than a known one of objective B gives up negatives, and
// positives, of less than B. So a good pair is found among one in 31 samples first. Then only the negatives from
// the top down to a cost of somewhat more than B, estimated from these samples, and the positives from the bottom
// up to it, are collected and sorted. If they cost less than B after all, all samples are sorted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/hyperplane.h"
#include "base/samples.h"

namespace hardmargin {

// The search over pairs, for projections from any source.
class ProjectionSearch {
public:
    struct Optimum {
        double objective = 0;
        double scale = 0;  // w = scale s; 0 if the cheaper class is given up
        double bias = 0;
    };

    // Labels are -1 or +1, costs are not negative, and `norm_squared` is ||s||^2. If a projection is not finite,
    // the cheaper class is given up.
    Optimum minimise(std::span<const double> projections, std::span<const double> labels,
                     std::span<const double> costs, double norm_squared);
    // Pairs examined so far.
    std::uint64_t work() const { return work_; }

private:
    struct Projection {
        double position;
        double cost;
    };
    // One end of a pair, and what is lost beyond it.
    struct End {
        double position;
        double lost;
    };

    // Which samples may matter.
    struct Reach {
        double highest_positive = std::numeric_limits<double>::infinity();
        double lowest_negative = -std::numeric_limits<double>::infinity();
    };

    void scan(double norm_squared);
    void divide_and_conquer(double norm_squared);
    // Fills negatives_ and positives_ with those of every `stride`-th sample that are within reach, and sorts them;
    // returns their costs.
    std::array<double, 2> collect(std::span<const double> projections, std::span<const double> labels,
                                  std::span<const double> costs, std::size_t stride, const Reach& reach);
    // Finds the best pair among one in `coarse_stride` samples; returns its objective over all samples, which is
    // infinite if there is no such pair, and sets a reach that is likely to contain all better pairs.
    double coarse_minimum(std::span<const double> projections, std::span<const double> labels,
                          std::span<const double> costs, double norm_squared, Reach& reach);
    // Collects the negatives and positives that may belong to a better pair.
    void collect_ends();
    // The best pair of the negatives in [first, end) and the positives in [first_positive, last_positive].
    void conquer(std::size_t first, std::size_t end, std::size_t first_positive, std::size_t last_positive,
                 double norm_squared);
    void become_best(double objective, double negative, double positive);

    std::vector<Projection> negatives_;
    std::vector<Projection> positives_;
    std::vector<End> negative_ends_;
    std::vector<End> positive_ends_;
    Optimum best_;
    // The pair of best_, if its scale is not 0.
    double best_negative_ = 0;
    double best_positive_ = 0;
    std::uint64_t work_ = 0;
};

class OffsetSearch {
public:
    explicit OffsetSearch(const Samples& samples) : samples_(samples) {}

    struct Optimum {
        Hyperplane hyperplane;
        double objective = 0;
    };

    // `direction` has Samples::stride() entries.
    Optimum minimise(std::span<const double> direction);
    // Pairs examined so far.
    std::uint64_t work() const { return search_.work(); }

private:
    const Samples& samples_;
    std::vector<double> projections_;
    ProjectionSearch search_;
};

}  // namespace hardmargin
