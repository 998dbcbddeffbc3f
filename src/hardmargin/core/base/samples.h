// The samples of a problem, laid out for the core's loops.
#pragma once

#include <cassert>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/kernels.h"

namespace hardmargin {

// Bounds on the weights of a problem: every hyperplane of interest has lower <= w <= upper. Infinite where open;
// both empty if there are none.
struct WeightBounds {
    std::vector<double> lower;
    std::vector<double> upper;
};

// A bound on a weight is met up to this share of it; bounds of zero are met exactly (docs/numerics.md).
inline constexpr double weight_tolerance = 1e-9;

// Samples as signed rows a_i = y_i x_i: sample i is kept by (w, b) iff a_i . w + y_i b >= 1.
class Samples {
public:
    // `features` is row-major, count x dimension; `labels` are -1 or +1; `costs` are not negative. Only hyperplanes
    // that cost less than `upper`, and whose weights are within the bounds, are of interest.
    Samples(std::span<const double> features, std::span<const double> labels, std::span<const double> costs,
            double upper = std::numeric_limits<double>::infinity(), WeightBounds bounds = {});

    std::size_t count() const { return labels_count_; }
    std::size_t dimension() const { return dimension_; }

    // Row length and sample count, rounded up to whole vectors and tiles; the padding is zero.
    std::size_t stride() const { return stride_; }
    std::size_t padded_count() const { return padded_count_; }

    // y_i x_i, not x_i.
    const double* row(std::size_t i) const {
        assert(i < count());
        return rows_.data() + i * stride_;
    }
    // Copy of the rows in tiles, for evaluating all samples at once; the labels are the bias column.
    Columns columns() const { return {columns_.data(), dimension_, padded_count_, labels_.data()}; }

    CoarseColumns coarse_columns() const {
        return {coarse_columns_.data(), dimension_, padded_count_, coarse_labels_.data(), coarse_scales_.data()};
    }

    double label(std::size_t i) const {
        assert(i < count());
        return labels_[i];
    }
    double cost(std::size_t i) const {
        assert(i < count());
        return costs_[i];
    }
    std::span<const double> labels() const { return {labels_.data(), labels_count_}; }
    std::span<const double> costs() const { return costs_; }
    // Whether giving the sample up alone costs as much as `upper`: every hyperplane of interest keeps it. Samples
    // that the user trusts are certain, because their cost is above that of a known hyperplane.
    bool certain(std::size_t i) const { return cost(i) >= upper_; }
    double upper() const { return upper_; }

    const WeightBounds& weight_bounds() const { return bounds_; }
    bool has_weight_bounds() const { return !bounds_.lower.empty(); }
    // The nearest weights within the bounds; `weights` has dimension() entries or more.
    void clip(std::span<double> weights) const;
    bool within_bounds(std::span<const double> weights) const;
    // The cost of every sample that is not certain, or 0 if costs differ. Certain samples cost more than that.
    double common_cost() const;
    // The mean cost of the samples that are not certain; of all samples if there are no others.
    double typical_cost() const;
    // ||x_i||, rounded up.
    double norm(std::size_t i) const {
        assert(i < count());
        return norms_[i];
    }
    // Proportional to 1 / ||x_i||, from 1 for the longest sample to 100: converts violations to distances.
    const double* pricing_scales() const { return pricing_scales_.data(); }
    double largest_norm() const { return largest_norm_; }

    // y_i (w.x_i + b); `weights` has stride() entries.
    double margin(std::size_t i, const double* weights, double bias) const {
        return dot(row(i), weights, stride_) + label(i) * bias;
    }
    // The margins of all samples; `margins` has padded_count() entries.
    void margins(const double* weights, double bias, double* margins) const;

private:
    std::size_t labels_count_;
    std::size_t dimension_;
    std::size_t stride_;
    std::size_t padded_count_;
    AlignedVector<double> rows_;
    AlignedVector<double> columns_;
    AlignedVector<double> labels_;
    std::vector<double> costs_;
    std::vector<double> norms_;
    AlignedVector<double> pricing_scales_;
    AlignedVector<float> coarse_columns_;
    AlignedVector<float> coarse_labels_;
    AlignedVector<float> coarse_scales_;
    double largest_norm_ = 0;
    double upper_;
    WeightBounds bounds_;
};

}  // namespace hardmargin
