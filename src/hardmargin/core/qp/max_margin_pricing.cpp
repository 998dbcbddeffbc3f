// The part of MaxMargin that searches for violated rows.
#include <algorithm>

#include "base/kernels.h"
#include "qp/max_margin.h"

namespace hardmargin {

std::size_t MaxMargin::most_violated(double tolerance, double& violation) {
    if (pooled_) {
        const std::size_t clear = clearly_violated_in_pool(tolerance, violation);
        if (clear != none()) {
            return clear;
        }
    }
    if (coarse_) {
        const std::size_t clear = clearly_violated(violation);
        if (clear != none()) {
            return clear;
        }
    }
    violation = tolerance;
    std::size_t chosen = few_rows() ? price_listed(violation) : price_all(tolerance, violation);
    for (const std::size_t flip : flips_) {
        const double excess = margins_[rows_.sample(flip)] - 1.0;
        if (excess > violation) {
            violation = excess;
            chosen = flip;
        }
    }
    const std::size_t extra = most_violated_extra_row(violation);
    return extra != none() ? extra : chosen;
}

std::size_t MaxMargin::price_listed(double& violation) {
    std::size_t chosen = none();
    const auto find_margin = [this](std::size_t i) {
        margins_[i] = samples_.margin(i, solution_.weights.data(), solution_.bias);
    };
    const double tolerance = violation;
    double farthest = 0;
    for (const std::uint32_t i : listed_) {
        find_margin(i);
        const double missing = 1.0 - margins_[i];
        if (missing > tolerance && missing * samples_.pricing_scales()[i] > farthest) {
            farthest = missing * samples_.pricing_scales()[i];
            violation = missing;
            chosen = i;
        }
    }
    for (const std::size_t flip : flips_) {
        find_margin(rows_.sample(flip));
    }
    margins_are_complete_ = false;
    work_ += (listed_.size() + flips_.size()) * (samples_.stride() + 4);
    return chosen;
}

std::size_t MaxMargin::price_all(double tolerance, double& violation) {
    const std::size_t n = samples_.count();
    std::size_t chosen = none();
    const std::size_t farthest = price(samples_.columns(), solution_.weights.data(), solution_.bias,
                                       samples_.pricing_scales(), keep_offsets_.data(), margins_.data());
    margins_are_complete_ = true;
    work_ += samples_.padded_count() * (samples_.dimension() + 1);
    const auto consider = [&](std::size_t i) {
        if (i < n && enabled_[i] != 0 && 1.0 - margins_[i] > violation) {
            violation = 1.0 - margins_[i];
            chosen = i;
        }
    };
    consider(farthest);
    // Scales are at least 1, so no violation exceeds the largest scaled one. Unless that is within the tolerance, a
    // long sample may still be violated by more than the tolerance.
    if (chosen == none() && n > 0 && (1.0 - margins_[farthest]) * samples_.pricing_scales()[farthest] > tolerance) {
        for (std::size_t i = 0; i < n; ++i) {
            consider(i);
        }
    }
    return chosen;
}

std::size_t MaxMargin::clearly_violated(double& violation) {
    std::transform(solution_.weights.begin(), solution_.weights.end(), coarse_weights_.begin(),
                   [](double weight) { return static_cast<float>(weight); });
    const std::size_t i =
        coarse_price(samples_.coarse_columns(), coarse_weights_.data(), static_cast<float>(solution_.bias),
                     coarse_offsets_.data(), coarse_scores_.data());
    work_ += samples_.padded_count() * (samples_.dimension() + 1) / 2;
    if (i < samples_.count() && enabled_[i] != 0) {
        const double margin = samples_.margin(i, solution_.weights.data(), solution_.bias);
        const bool active =
            std::find(solution_.active.begin(), solution_.active.end(), i) != solution_.active.end();
        if (!active && 1.0 - margin > clear_violation) {
            violation = 1.0 - margin;
            return i;
        }
    }
    coarse_ = false;
    return none();
}

}  // namespace hardmargin
