#include "base/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/rounding.h"

namespace hardmargin {

namespace {

// Norms of samples with few features are rounded up by this share.
constexpr double least_norm_rounding = 1e-12;
// Samples shorter than this share of the longest one are priced as if they had this length.
constexpr double shortest_share = 0.01;

}  // namespace

Samples::Samples(std::span<const double> features, std::span<const double> labels, std::span<const double> costs,
                 double upper, WeightBounds bounds)
    : labels_count_(labels.size()),
      dimension_(labels.empty() ? 0 : features.size() / labels.size()),
      stride_(padded_size(dimension_)),
      padded_count_(padded_size(labels_count_, tile)),
      rows_(labels_count_ * stride_),
      columns_(dimension_ * padded_count_),
      labels_(padded_count_),
      costs_(costs.begin(), costs.end()),
      norms_(labels_count_),
      pricing_scales_(padded_count_),
      upper_(upper),
      bounds_(std::move(bounds)) {
    if (features.size() != labels_count_ * dimension_ || costs.size() != labels_count_) {
        throw std::invalid_argument("samples: features, labels and costs do not fit together");
    }
    if (has_weight_bounds() && (bounds_.lower.size() != dimension_ || bounds_.upper.size() != dimension_)) {
        throw std::invalid_argument("samples: expected two bounds for every feature, or none at all");
    }
    for (std::size_t k = 0; k < bounds_.lower.size(); ++k) {
        if (!(bounds_.lower[k] <= bounds_.upper[k])) {
            throw std::invalid_argument("samples: a lower bound is above the upper one");
        }
    }
    for (std::size_t i = 0; i < labels_count_; ++i) {
        if (labels[i] != 1.0 && labels[i] != -1.0) {
            throw std::invalid_argument("samples: labels must be -1 or +1");
        }
        if (!(costs[i] >= 0)) {
            throw std::invalid_argument("samples: costs must not be negative");
        }
        labels_[i] = labels[i];
        for (std::size_t k = 0; k < dimension_; ++k) {
            const double value = labels[i] * features[i * dimension_ + k];
            rows_[i * stride_ + k] = value;
            columns_[i / tile * tile * dimension_ + k * tile + i % tile] = value;
        }
        norms_[i] = std::sqrt(dot(row(i), row(i), stride_)) * (1 + sum_rounding(dimension_, least_norm_rounding));
        largest_norm_ = std::max(largest_norm_, norms_[i]);
    }
    const double shortest = std::max(shortest_share * largest_norm_, std::numeric_limits<double>::min());
    for (std::size_t i = 0; i < labels_count_; ++i) {
        pricing_scales_[i] = std::max(1.0, largest_norm_ / std::max(norms_[i], shortest));
    }
    // Values too large for single precision become infinite. Coarse pricing then finds nothing, which is allowed.
    coarse_columns_.assign(columns_.begin(), columns_.end());
    coarse_labels_.assign(labels_.begin(), labels_.end());
    coarse_scales_.assign(pricing_scales_.begin(), pricing_scales_.end());
}

void Samples::clip(std::span<double> weights) const {
    for (std::size_t k = 0; k < bounds_.lower.size(); ++k) {
        weights[k] = std::clamp(weights[k], bounds_.lower[k], bounds_.upper[k]);
    }
}

bool Samples::within_bounds(std::span<const double> weights) const {
    for (std::size_t k = 0; k < bounds_.lower.size(); ++k) {
        const double lower = bounds_.lower[k];
        const double upper = bounds_.upper[k];
        if (!(weights[k] >= lower - weight_tolerance * std::abs(lower)) ||
            !(weights[k] <= upper + weight_tolerance * std::abs(upper))) {
            return false;
        }
    }
    return true;
}

void Samples::margins(const double* weights, double bias, double* margins) const {
    combine_columns(columns(), weights, bias, margins);
}

double Samples::common_cost() const {
    double common = 0;
    for (std::size_t i = 0; i < count(); ++i) {
        if (certain(i)) {
            continue;
        }
        if (common > 0 && cost(i) != common) {
            return 0;
        }
        common = cost(i);
    }
    return common;
}

double Samples::typical_cost() const {
    double sum = 0;
    double all = 0;
    std::size_t uncertain = 0;
    for (std::size_t i = 0; i < count(); ++i) {
        all += cost(i) / static_cast<double>(count());
        if (!certain(i)) {
            sum += cost(i);
            ++uncertain;
        }
    }
    return uncertain > 0 ? sum / static_cast<double>(uncertain) : all;
}

}  // namespace hardmargin
