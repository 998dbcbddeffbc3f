// The active rows of the max-margin problem: the factorisation of their normals, and the solution they define.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/kernels.h"
#include "qp/max_margin.h"

namespace hardmargin {

namespace {

// A normal lies in the span of the others if its rest is shorter than this, relative to what it was computed from.
constexpr double dependence_tolerance = 1e-10;
// The same for rows that have already been found independent.
constexpr double rebuilding_tolerance = 0.1 * dependence_tolerance;
// Negative multipliers up to this share of the largest one count as zero.
constexpr double negative_tolerance = 1e-9;
// Allowed error of w as a combination of the active normals, and of the slack of active rows.
constexpr double consistency_tolerance = 1e-8;

}  // namespace

double MaxMargin::bound(std::size_t row) const {
    return rows_.is_extra(row) ? extra_rows_[rows_.extra_index(row)].bound : rows_.sign(row);
}

double MaxMargin::normal_norm(std::size_t row) const {
    if (!rows_.is_extra(row)) {
        return samples_.norm(rows_.sample(row));
    }
    return extra_rows_[rows_.extra_index(row)].length();
}

void MaxMargin::load_reduced_normal(std::size_t row) {
    const std::size_t stride = samples_.stride();
    if (rows_.is_extra(row)) {
        std::fill(normal_.begin(), normal_.end(), 0.0);
        extra_rows_[rows_.extra_index(row)].add_to(normal_.data(), 1.0);
        return;
    }
    const std::size_t sample = rows_.sample(row);
    const double sign = rows_.sign(row);
    std::transform(samples_.row(sample), samples_.row(sample) + stride, normal_.data(),
                   [sign](double value) { return sign * value; });
    if (anchored()) {
        // (c / c_0) a_0 is the anchor's x times this row's c; the sign of a flipped anchor cancels.
        const std::size_t anchor = rows_.sample(solution_.active[0]);
        add_scaled(normal_.data(), -bias_coefficient(row) * samples_.label(anchor), samples_.row(anchor), stride);
    }
}

double MaxMargin::relate(std::size_t row) {
    load_reduced_normal(row);
    rest_squared_ = solution_.basis.split(normal_.data(), projections_.data(), rest_.data());
    split_is_current_ = true;
    work_ += (4 * solution_.basis.count() + 4) * samples_.stride();
    return shares_and_length(row);
}

double MaxMargin::relate_again(std::size_t row) {
    return split_is_current_ ? shares_and_length(row) : relate(row);
}

double MaxMargin::shares_and_length(std::size_t row) {
    const std::size_t first = anchored() ? 1 : 0;
    solution_.basis.shares(projections_.data(), shares_.data() + first);
    if (first == 1) {
        double balance = bias_coefficient(row);
        for (std::size_t index = 1; index < solution_.active.size(); ++index) {
            balance -= shares_[index] * bias_coefficient(solution_.active[index]);
        }
        shares_[0] = balance * bias_coefficient(solution_.active[0]);
    }
    const double scale = normal_norm(row) + (anchored() ? normal_norm(solution_.active[0]) : 0.0);
    const double shortest = dependence_tolerance * scale;
    const bool independent = rest_squared_ > shortest * shortest && solution_.basis.count() < samples_.dimension();
    return independent ? rest_squared_ : 0.0;
}

void MaxMargin::append(std::size_t row, double multiplier, double squared_length) {
    solution_.basis.append(projections_.data(), rest_.data(), squared_length);
    split_is_current_ = false;
    solution_.active.push_back(row);
    solution_.multipliers.push_back(multiplier);
    ++solution_.age;
    solution_.exact = false;
}

bool MaxMargin::erase(std::size_t index) {
    const bool anchor_leaves = anchored() && index == 0;
    solution_.exact = false;
    const std::size_t first = anchored() ? 1 : 0;
    solution_.active.erase(solution_.active.begin() + static_cast<std::ptrdiff_t>(index));
    solution_.multipliers.erase(solution_.multipliers.begin() + static_cast<std::ptrdiff_t>(index));
    if (!anchor_leaves) {
        rest_squared_ += solution_.basis.erase(index - first, projections_.data(), rest_.data());
        ++solution_.age;
        return true;
    }
    split_is_current_ = false;
    // The new anchor: the sample with the largest multiplier is least likely to leave soon.
    std::size_t heir = solution_.active.size();
    for (std::size_t other = 0; other < solution_.active.size(); ++other) {
        if (!rows_.is_extra(solution_.active[other]) &&
            (heir == solution_.active.size() || solution_.multipliers[other] > solution_.multipliers[heir])) {
            heir = other;
        }
    }
    if (heir < solution_.active.size()) {
        std::swap(solution_.active[0], solution_.active[heir]);
        std::swap(solution_.multipliers[0], solution_.multipliers[heir]);
    }
    return rebuild_basis();
}

bool MaxMargin::rebuild_basis() {
    solution_.basis.clear();
    solution_.age = 0;
    split_is_current_ = false;
    for (std::size_t index = anchored() ? 1 : 0; index < solution_.active.size(); ++index) {
        const std::size_t row = solution_.active[index];
        if (stopped_within_step(4 * index * samples_.stride())) {
            return false;
        }
        load_reduced_normal(row);
        const double squared_length = solution_.basis.split(normal_.data(), projections_.data(), rest_.data());
        const double shortest =
            rebuilding_tolerance * (normal_norm(row) + (anchored() ? normal_norm(solution_.active[0]) : 0.0));
        if (!(squared_length > shortest * shortest) || solution_.basis.count() == samples_.dimension()) {
            return false;
        }
        solution_.basis.append(projections_.data(), rest_.data(), squared_length);
    }
    work_ += 4 * solution_.active.size() * solution_.active.size() * samples_.stride();
    return true;
}

bool MaxMargin::refresh() {
    if (!rebuild_basis()) {
        return false;
    }
    const std::size_t first = anchored() ? 1 : 0;
    const std::size_t count = solution_.basis.count();
    std::vector<double> bounds(count);
    std::vector<double> coordinates(count);
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t row = solution_.active[first + k];
        bounds[k] = bound_from_origin(row);
        if (first == 1) {
            const std::size_t anchor = solution_.active[0];
            bounds[k] -= bias_coefficient(row) * bias_coefficient(anchor) * bound_from_origin(anchor);
        }
    }
    solution_.basis.coordinates(bounds.data(), coordinates.data());
    solution_.basis.shares(coordinates.data(), solution_.multipliers.data() + first);
    if (first == 1) {
        double balance = 0;
        for (std::size_t index = 1; index < solution_.active.size(); ++index) {
            balance -= solution_.multipliers[index] * bias_coefficient(solution_.active[index]);
        }
        solution_.multipliers[0] = balance * bias_coefficient(solution_.active[0]);
    }
    const double largest = solution_.multipliers.empty()
                               ? 0.0
                               : *std::max_element(solution_.multipliers.begin(), solution_.multipliers.end());
    for (double& multiplier : solution_.multipliers) {
        if (!(multiplier >= -negative_tolerance * largest)) {
            return false;
        }
        multiplier = std::max(multiplier, 0.0);
    }
    return_to_origin();
    solution_.basis.add_to(coordinates.data(), solution_.weights.data());
    solution_.value = 0.5 * squared_distance();
    set_bias();
    solution_.exact = true;
    return true;
}

bool MaxMargin::consistent() {
    double largest = 0;
    double shortfall = 0;
    std::copy(solution_.weights.begin(), solution_.weights.end(), rest_.begin());
    if (!origin_.empty()) {
        add_scaled(rest_.data(), -1.0, origin_.data(), samples_.stride());
    }
    for (std::size_t index = 0; index < solution_.active.size(); ++index) {
        const std::size_t row = solution_.active[index];
        const double multiplier = solution_.multipliers[index];
        double slack = 0;
        if (!rows_.is_extra(row)) {
            const std::size_t sample = rows_.sample(row);
            add_scaled(rest_.data(), -rows_.sign(row) * multiplier, samples_.row(sample), samples_.stride());
            slack = std::abs(margins_[sample] - 1.0);
        } else {
            const ExtraRow& extra = extra_rows_[rows_.extra_index(row)];
            extra.add_to(rest_.data(), -multiplier);
            slack = std::abs(extra.product(solution_.weights.data()) - extra.bound);
        }
        largest = std::max(largest, multiplier);
        shortfall = std::max(shortfall, multiplier > 0 ? slack : 0.0);
    }
    split_is_current_ = false;
    work_ += solution_.active.size() * samples_.stride();
    const double norm_squared = squared_distance();
    const double residual = dot(rest_.data(), rest_.data(), samples_.stride());
    solution_.value = 0.5 * norm_squared;
    return residual <= consistency_tolerance * consistency_tolerance * norm_squared &&
           shortfall <= consistency_tolerance;
}

void MaxMargin::set_bias() {
    if (!anchored()) {
        return;
    }
    const std::size_t anchor = rows_.sample(solution_.active[0]);
    // A tight sample has y (w.x + b) = 1, kept or flipped; y is its own inverse.
    solution_.bias =
        samples_.label(anchor) * (1.0 - dot(samples_.row(anchor), solution_.weights.data(), samples_.stride()));
}

void MaxMargin::release_direction(std::size_t index, double* direction, double& bias_direction) {
    assert(index < solution_.active.size());
    const std::size_t first = anchored() ? 1 : 0;
    const std::size_t count = solution_.basis.count();
    const bool anchor_released = first == 1 && index == 0;
    std::vector<double> rates(count);
    std::vector<double> coordinates(count);
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t row = solution_.active[first + k];
        // Reduced by the anchor, whose rate is -1 or 0.
        rates[k] = first + k == index ? -1.0 : 0.0;
        if (anchor_released) {
            rates[k] += bias_coefficient(row) * bias_coefficient(solution_.active[0]);
        }
    }
    solution_.basis.coordinates(rates.data(), coordinates.data());
    std::fill_n(direction, samples_.stride(), 0.0);
    solution_.basis.add_to(coordinates.data(), direction);
    bias_direction = 0;
    if (first == 1) {
        const std::size_t anchor = rows_.sample(solution_.active[0]);
        const double rate = anchor_released ? -rows_.sign(solution_.active[0]) : 0.0;
        bias_direction = samples_.label(anchor) * (rate - dot(samples_.row(anchor), direction, samples_.stride()));
    }
}

}  // namespace hardmargin
