// The max-margin problem inside a region of directions, where only feasibility matters.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/kernels.h"
#include "qp/max_margin.h"

namespace hardmargin {

void MaxMargin::set_pool(std::span<const std::uint32_t> pool) {
    const std::size_t padded = padded_size(pool.size(), tile);
    const std::size_t dimension = samples_.dimension();
    pool_.assign(pool.begin(), pool.end());
    place_in_pool_.resize(samples_.count());
    pool_values_.assign(padded * dimension, 0.0f);
    pool_labels_.assign(padded, 0.0f);
    pool_scales_.assign(padded, 1.0f);
    pool_offsets_.assign(padded, std::numeric_limits<float>::infinity());
    for (std::size_t place = 0; place < pool.size(); ++place) {
        const std::size_t sample = pool[place];
        const double* row = samples_.row(sample);
        float* values = &pool_values_[place / tile * tile * dimension + place % tile];
        for (std::size_t k = 0; k < dimension; ++k) {
            values[k * tile] = static_cast<float>(row[k]);
        }
        pool_labels_[place] = static_cast<float>(samples_.label(sample));
        pool_scales_[place] = static_cast<float>(samples_.pricing_scales()[sample]);
        pool_offsets_[place] = coarse_offsets_[sample];
        place_in_pool_[sample] = static_cast<std::uint32_t>(place);
    }
    pooled_ = true;
    assert(std::all_of(listed_.begin(), listed_.end(), [this](std::uint32_t sample) { return in_pool(sample); }));
    work_ += pool.size() * dimension;
}

void MaxMargin::set_origin(std::span<const double> origin) {
    assert(origin.size() == samples_.stride());
    origin_.assign(origin.begin(), origin.end());
    origin_length_ = std::sqrt(dot(origin_.data(), origin_.data(), samples_.stride()));
    forget();
}

double MaxMargin::squared_distance() const {
    if (origin_.empty()) {
        return dot(solution_.weights.data(), solution_.weights.data(), samples_.stride());
    }
    double sum = 0;
    for (std::size_t k = 0; k < samples_.dimension(); ++k) {
        const double difference = solution_.weights[k] - origin_[k];
        sum += difference * difference;
    }
    return sum;
}

void MaxMargin::return_to_origin() {
    if (origin_.empty()) {
        std::fill(solution_.weights.begin(), solution_.weights.end(), 0.0);
    } else {
        std::copy(origin_.begin(), origin_.end(), solution_.weights.begin());
    }
}

double MaxMargin::bound_from_origin(std::size_t row) const {
    if (origin_.empty()) {
        return bound(row);
    }
    if (rows_.is_extra(row)) {
        return bound(row) - extra_rows_[rows_.extra_index(row)].product(origin_.data());
    }
    const double along = dot(samples_.row(rows_.sample(row)), origin_.data(), samples_.stride());
    return bound(row) - rows_.sign(row) * along;
}

std::size_t MaxMargin::most_violated_extra_row(double& violation) {
    std::size_t chosen = none();
    work_ += bound_rows_ + (extra_rows_.size() - bound_rows_) * samples_.stride();
    for (std::size_t j = 0; j < extra_rows_.size(); ++j) {
        if (enabled_[rows_.extra(j)] != 0) {
            const ExtraRow& extra = extra_rows_[j];
            const double missing = extra.bound - extra.product(solution_.weights.data());
            if (missing > violation) {
                violation = missing;
                chosen = rows_.extra(j);
            }
        }
    }
    return chosen;
}

std::size_t MaxMargin::clearly_violated_in_pool(double tolerance, double& violation) {
    const auto is_active = [&](std::size_t row) {
        return std::find(solution_.active.begin(), solution_.active.end(), row) != solution_.active.end();
    };
    violation = tolerance;
    const std::size_t extra = most_violated_extra_row(violation);
    if (extra != none()) {
        return is_active(extra) ? none() : extra;
    }
    if (pool_.empty()) {
        return none();
    }
    std::transform(solution_.weights.begin(), solution_.weights.end(), coarse_weights_.begin(),
                   [](double weight) { return static_cast<float>(weight); });
    const CoarseColumns columns{pool_values_.data(), samples_.dimension(), pool_labels_.size(), pool_labels_.data(),
                                pool_scales_.data()};
    const std::size_t place = coarse_price(columns, coarse_weights_.data(), static_cast<float>(solution_.bias),
                                           pool_offsets_.data(), coarse_scores_.data());
    work_ += pool_labels_.size() * (samples_.dimension() + 1) / 2;
    if (place >= pool_.size() || enabled_[pool_[place]] == 0 || is_active(pool_[place])) {
        return none();
    }
    const std::size_t sample = pool_[place];
    const double margin = samples_.margin(sample, solution_.weights.data(), solution_.bias);
    if (!(1.0 - margin > clear_violation)) {
        return none();
    }
    violation = 1.0 - margin;
    return sample;
}

}  // namespace hardmargin
