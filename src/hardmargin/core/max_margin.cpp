#include "max_margin.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kernels.h"

namespace hardmargin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A normal whose part outside the span of the others is shorter than this, relative to what it was computed
// from, lies inside.
constexpr double dependence_tolerance = 1e-10;
// Shares closer to zero than this do not limit a step.
constexpr double share_tolerance = 1e-12;
// Multipliers below zero by no more than this, relative to the largest one, are zero.
constexpr double negative_tolerance = 1e-9;
// How far a solution may be from the combination of its active rows' normals, and these from being tight.
constexpr double consistency_tolerance = 1e-8;
// Margins are 1; they are met to this precision where rounding allows it, and never to less than the worst
// one.
constexpr double margin_tolerance = 1e-10;
constexpr double worst_margin_tolerance = 1e-6;
// The value is driven this much beyond the threshold, relatively, so that rounding cannot spoil the
// certificate.
constexpr double threshold_slack = 1e-11;
// Multipliers smaller than this, relative to the largest one, are left out of a certificate.
constexpr double support_tolerance = 1e-12;
constexpr int largest_age = 100;
// Violations that single precision cannot have made up.
constexpr double clear_violation = 1e-2;
// The clock costs nothing beside this many multiply-adds.
constexpr std::uint64_t work_between_stops = 100000;

}  // namespace

MaxMargin::MaxMargin(const Samples& samples)
    : samples_(samples),
      enabled_(2 * samples.count()),
      keep_offsets_(samples.padded_count(), infinity),
      coarse_offsets_(samples.padded_count(), std::numeric_limits<float>::infinity()),
      coarse_weights_(samples.stride()),
      coarse_scores_(samples.padded_count()),
      solution_{{}, {}, std::vector<double>(samples.stride()), 0, 0, Basis(samples.dimension(), samples.stride()),
                0},
      margins_(samples.padded_count()),
      normal_(samples.stride()),
      rest_(samples.stride()),
      projections_(samples.dimension() + 1),
      shares_(samples.dimension() + 2) {}

// ---- rows

void MaxMargin::enable(std::size_t row) {
    if (enabled_[row] != 0) {
        return;
    }
    enabled_[row] = 1;
    const std::size_t n = samples_.count();
    if (row < n) {
        set_keep_offset(row, true);
        ++enabled_counts_[samples_.label(row) > 0];
    } else if (row < 2 * n) {
        flips_.push_back(row);
    }
}

void MaxMargin::disable(std::size_t row) {
    if (enabled_[row] == 0) {
        return;
    }
    enabled_[row] = 0;
    const std::size_t n = samples_.count();
    if (row < n) {
        set_keep_offset(row, false);
        --enabled_counts_[samples_.label(row) > 0];
    } else if (row < 2 * n) {
        flips_.erase(std::find(flips_.begin(), flips_.end(), row));
    }
    const auto found = std::find(solution_.active.begin(), solution_.active.end(), row);
    if (found != solution_.active.end()) {
        const auto index = static_cast<std::size_t>(found - solution_.active.begin());
        const double multiplier = solution_.multipliers[index];
        if (erase(index)) {
            withdraw_or_forget(row, multiplier);
        } else {
            forget();
        }
    }
}

void MaxMargin::clear() {
    std::fill(enabled_.begin(), enabled_.end(), static_cast<unsigned char>(0));
    std::fill(keep_offsets_.begin(), keep_offsets_.end(), infinity);
    std::fill(coarse_offsets_.begin(), coarse_offsets_.end(), std::numeric_limits<float>::infinity());
    flips_.clear();
    enabled_counts_ = {0, 0};
    forget();
}

void MaxMargin::forget() {
    solution_.active.clear();
    solution_.multipliers.clear();
    solution_.basis.clear();
    std::fill(solution_.weights.begin(), solution_.weights.end(), 0.0);
    solution_.bias = 0;
    solution_.value = 0;
    solution_.age = 0;
    solution_.exact = true;
}

void MaxMargin::set_extra_rows(std::vector<ExtraRow> rows) {
    forget();
    extra_rows_ = std::move(rows);
    enabled_.resize(2 * samples_.count());
    enabled_.resize(2 * samples_.count() + extra_rows_.size());
}

double MaxMargin::bias_coefficient(std::size_t row) const {
    const std::size_t n = samples_.count();
    return row < n ? samples_.label(row) : row < 2 * n ? -samples_.label(row - n) : 0.0;
}

double MaxMargin::bound(std::size_t row) const {
    const std::size_t n = samples_.count();
    return row < n ? 1.0 : row < 2 * n ? -1.0 : extra_rows_[row - 2 * n].bound;
}

double MaxMargin::normal_norm(std::size_t row) const {
    const std::size_t n = samples_.count();
    if (row < 2 * n) {
        return samples_.norm(row < n ? row : row - n);
    }
    const double* normal = extra_rows_[row - 2 * n].normal.data();
    return std::sqrt(dot(normal, normal, samples_.stride()));
}

bool MaxMargin::anchored() const {
    return !solution_.active.empty() && solution_.active[0] < 2 * samples_.count();
}

void MaxMargin::load_reduced_normal(std::size_t row) {
    const std::size_t n = samples_.count();
    const std::size_t stride = samples_.stride();
    if (row >= 2 * n) {
        std::copy_n(extra_rows_[row - 2 * n].normal.data(), stride, normal_.data());
        return;
    }
    const std::size_t sample = row < n ? row : row - n;
    const double sign = row < n ? 1.0 : -1.0;
    std::transform(samples_.row(sample), samples_.row(sample) + stride, normal_.data(),
                   [sign](double value) { return sign * value; });
    if (anchored()) {
        // Up to the signs of flips, which cancel, (c / c_0) a_0 is the anchor's x times this row's c.
        const std::size_t anchor = solution_.active[0] < n ? solution_.active[0] : solution_.active[0] - n;
        add_scaled(normal_.data(), -bias_coefficient(row) * samples_.label(anchor), samples_.row(anchor), stride);
    }
}

// ---- the active set

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
    // The sample with the largest multiplier is the one least likely to leave soon.
    std::size_t heir = solution_.active.size();
    for (std::size_t other = 0; other < solution_.active.size(); ++other) {
        if (solution_.active[other] < 2 * samples_.count() &&
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
        load_reduced_normal(row);
        const double squared_length = solution_.basis.split(normal_.data(), projections_.data(), rest_.data());
        const double shortest =
            0.1 * dependence_tolerance * (normal_norm(row) + (anchored() ? normal_norm(solution_.active[0]) : 0.0));
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
        bounds[k] = bound(row);
        if (first == 1) {
            const std::size_t anchor = solution_.active[0];
            bounds[k] -= bias_coefficient(row) * bias_coefficient(anchor) * bound(anchor);
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
    std::fill(solution_.weights.begin(), solution_.weights.end(), 0.0);
    solution_.basis.add_to(coordinates.data(), solution_.weights.data());
    solution_.value = 0.5 * dot(solution_.weights.data(), solution_.weights.data(), samples_.stride());
    set_bias();
    solution_.exact = true;
    return true;
}

bool MaxMargin::consistent() {
    const std::size_t n = samples_.count();
    double largest = 0;
    double shortfall = 0;
    std::copy(solution_.weights.begin(), solution_.weights.end(), rest_.begin());
    for (std::size_t index = 0; index < solution_.active.size(); ++index) {
        const std::size_t row = solution_.active[index];
        const double multiplier = solution_.multipliers[index];
        double slack = 0;
        if (row < 2 * n) {
            const std::size_t sample = row < n ? row : row - n;
            add_scaled(rest_.data(), row < n ? -multiplier : multiplier, samples_.row(sample), samples_.stride());
            slack = std::abs(margins_[sample] - 1.0);
        } else {
            const ExtraRow& extra = extra_rows_[row - 2 * n];
            add_scaled(rest_.data(), -multiplier, extra.normal.data(), samples_.stride());
            slack = std::abs(dot(extra.normal.data(), solution_.weights.data(), samples_.stride()) - extra.bound);
        }
        largest = std::max(largest, multiplier);
        shortfall = std::max(shortfall, multiplier > 0 ? slack : 0.0);
    }
    split_is_current_ = false;
    work_ += solution_.active.size() * samples_.stride();
    const double norm_squared = dot(solution_.weights.data(), solution_.weights.data(), samples_.stride());
    const double residual = dot(rest_.data(), rest_.data(), samples_.stride());
    solution_.value = 0.5 * norm_squared;
    return residual <= consistency_tolerance * consistency_tolerance * norm_squared &&
           shortfall <= consistency_tolerance;
}

void MaxMargin::set_bias() {
    if (!anchored()) {
        return;
    }
    const std::size_t n = samples_.count();
    const std::size_t anchor = solution_.active[0] < n ? solution_.active[0] : solution_.active[0] - n;
    // A tight sample has y (w.x + b) = 1, kept or flipped; y is its own inverse.
    solution_.bias =
        samples_.label(anchor) * (1.0 - dot(samples_.row(anchor), solution_.weights.data(), samples_.stride()));
}

void MaxMargin::release_direction(std::size_t index, double* direction, double& bias_direction) {
    const std::size_t first = anchored() ? 1 : 0;
    const std::size_t count = solution_.basis.count();
    const bool anchor_released = first == 1 && index == 0;
    std::vector<double> rates(count);
    std::vector<double> coordinates(count);
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t row = solution_.active[first + k];
        // Reduced by the anchor, whose own rate is -1 or 0.
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
        const std::size_t n = samples_.count();
        const std::size_t anchor = solution_.active[0] < n ? solution_.active[0] : solution_.active[0] - n;
        const double rate = anchor_released ? (solution_.active[0] < n ? -1.0 : 1.0) : 0.0;
        bias_direction = samples_.label(anchor) * (rate - dot(samples_.row(anchor), direction, samples_.stride()));
    }
}

// ---- the search

void MaxMargin::start() {
    // Without weights all samples look alike. The first two are those that the line through the class means
    // puts deepest in the other class.
    const std::size_t n = samples_.count();
    if (enabled_counts_[0] == 0 || enabled_counts_[1] == 0 || !extra_rows_.empty() || !flips_.empty()) {
        return;
    }
    const double shares[2] = {1.0 / static_cast<double>(enabled_counts_[0]),
                              1.0 / static_cast<double>(enabled_counts_[1])};
    for (std::size_t i = 0; i < n; ++i) {
        margins_[i] = enabled_[i] != 0 ? shares[samples_.label(i) > 0] : 0.0;
    }
    std::fill(normal_.begin(), normal_.end(), 0.0);
    add_rows(samples_.row(0), n, samples_.stride(), margins_.data(), normal_.data());
    samples_.margins(normal_.data(), 0.0, margins_.data());
    work_ += 2 * samples_.padded_count() * samples_.dimension();
    std::size_t deepest[2] = {n, n};
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t& current = deepest[samples_.label(i) > 0];
        if (enabled_[i] != 0 && (current == n || margins_[i] < margins_[current])) {
            current = i;
        }
    }
    coarse_ = true;
    solution_.active.push_back(deepest[0]);
    solution_.multipliers.push_back(0.0);
    set_bias();
    if (enter(deepest[1], 2.0, infinity) != Entry::entered) {
        forget();
    }
}

double MaxMargin::tolerance() const {
    const double size = std::sqrt(2 * solution_.value) * samples_.largest_norm() + std::abs(solution_.bias);
    return std::clamp(64 * std::numeric_limits<double>::epsilon() * size, margin_tolerance, worst_margin_tolerance);
}

std::size_t MaxMargin::most_violated(double tolerance, double& violation) {
    const std::size_t n = samples_.count();
    if (coarse_) {
        const std::size_t clear = clearly_violated(violation);
        if (clear != none()) {
            return clear;
        }
    }
    std::size_t chosen = none();
    violation = tolerance;
    const std::size_t farthest = price(samples_.columns(), solution_.weights.data(), solution_.bias,
                                       samples_.pricing_scales(), keep_offsets_.data(), margins_.data());
    work_ += samples_.padded_count() * (samples_.dimension() + 1);
    const auto consider_sample = [&](std::size_t i) {
        if (i < n && enabled_[i] != 0 && 1.0 - margins_[i] > violation) {
            violation = 1.0 - margins_[i];
            chosen = i;
        }
    };
    consider_sample(farthest);
    // Scales are at least 1, so no sample misses its margin by more than the farthest one's scaled violation. Only
    // if that is not negligible may a long sample still miss its margin by more than the tolerance.
    if (chosen == none() && n > 0 && (1.0 - margins_[farthest]) * samples_.pricing_scales()[farthest] > tolerance) {
        for (std::size_t i = 0; i < n; ++i) {
            consider_sample(i);
        }
    }
    for (const std::size_t flip : flips_) {
        if (margins_[flip - n] - 1.0 > violation) {
            violation = margins_[flip - n] - 1.0;
            chosen = flip;
        }
    }
    for (std::size_t j = 0; j < extra_rows_.size(); ++j) {
        if (enabled_[2 * n + j] != 0) {
            const ExtraRow& extra = extra_rows_[j];
            const double missing =
                extra.bound - dot(extra.normal.data(), solution_.weights.data(), samples_.stride());
            if (missing > violation) {
                violation = missing;
                chosen = 2 * n + j;
            }
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
        const double margin =
            dot(samples_.row(i), solution_.weights.data(), samples_.stride()) + samples_.label(i) * solution_.bias;
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

MaxMargin::Entry MaxMargin::enter(std::size_t row, double violation, double threshold) {
    double multiplier = 0;
    const std::size_t most_steps = 4 * samples_.dimension() + 16;
    for (std::size_t steps = 0; steps < most_steps; ++steps) {
        if (!anchored() && row < 2 * samples_.count()) {
            // b is free. Balance asks for a multiplier of zero; and reduced normals of extra rows need no
            // anchor.
            solution_.active.insert(solution_.active.begin(), row);
            solution_.multipliers.insert(solution_.multipliers.begin(), 0.0);
            solution_.exact = false;
            set_bias();
            return Entry::entered;
        }
        const double squared_length = steps == 0 ? relate(row) : relate_again(row);
        double dual_step = infinity;
        std::size_t leaving = 0;
        for (std::size_t index = 0; index < solution_.active.size(); ++index) {
            if (shares_[index] > share_tolerance && solution_.multipliers[index] < dual_step * shares_[index]) {
                dual_step = solution_.multipliers[index] / shares_[index];
                leaving = index;
            }
        }
        const double primal_step = squared_length > 0 ? violation / squared_length : infinity;
        const double step = std::min(dual_step, primal_step);
        if (step == infinity) {
            certify_ray(row);
            withdraw_or_forget(row, multiplier);
            return Entry::impossible;
        }
        const double value = solution_.value + step * (violation - 0.5 * step * squared_length);
        if (value >= threshold) {
            certify_step(row, multiplier, step);
            withdraw_or_forget(row, multiplier);
            return Entry::passed_threshold;
        }
        for (std::size_t index = 0; index < solution_.active.size(); ++index) {
            solution_.multipliers[index] = std::max(0.0, solution_.multipliers[index] - step * shares_[index]);
        }
        multiplier += step;
        solution_.value = value;
        if (squared_length > 0) {
            add_scaled(solution_.weights.data(), step, rest_.data(), samples_.stride());
            violation -= step * squared_length;
        }
        if (primal_step <= dual_step) {
            append(row, multiplier, squared_length);
            set_bias();
            return Entry::entered;
        }
        if (!erase(leaving)) {
            return Entry::trouble;
        }
    }
    return Entry::trouble;
}

bool MaxMargin::withdraw(std::size_t row, double multiplier) {
    const std::size_t most_steps = 4 * samples_.dimension() + 16;
    for (std::size_t steps = 0; multiplier > 0; ++steps) {
        if (steps == most_steps || (!anchored() && row < 2 * samples_.count())) {
            return false;
        }
        const double squared_length = steps == 0 ? relate(row) : relate_again(row);
        double step = multiplier;
        std::size_t leaving = solution_.active.size();
        for (std::size_t index = 0; index < solution_.active.size(); ++index) {
            if (shares_[index] < -share_tolerance && solution_.multipliers[index] < -step * shares_[index]) {
                step = -solution_.multipliers[index] / shares_[index];
                leaving = index;
            }
        }
        for (std::size_t index = 0; index < solution_.active.size(); ++index) {
            solution_.multipliers[index] = std::max(0.0, solution_.multipliers[index] + step * shares_[index]);
        }
        if (squared_length > 0) {
            add_scaled(solution_.weights.data(), -step, rest_.data(), samples_.stride());
        }
        multiplier -= step;
        if (leaving == solution_.active.size()) {
            break;
        }
        if (!erase(leaving)) {
            return false;
        }
    }
    set_bias();
    solution_.value = 0.5 * dot(solution_.weights.data(), solution_.weights.data(), samples_.stride());
    return true;
}

void MaxMargin::withdraw_or_forget(std::size_t row, double multiplier) {
    if (!withdraw(row, multiplier)) {
        forget();
    }
}

MaxMarginStatus MaxMargin::solve(double threshold) {
    const double reach = threshold * (1 + threshold_slack);
    const std::size_t most_iterations = 50 * (samples_.dimension() + 20) + samples_.count();
    double looseness = 1;
    int restarts = 0;
    coarse_ = false;
    if (solution_.active.empty()) {
        start();
    }
    for (std::size_t iteration = 0; iteration < most_iterations; ++iteration) {
        if (stop_ && work_ - work_at_stop_ > work_between_stops) {
            work_at_stop_ = work_;
            if (stop_()) {
                return MaxMarginStatus::failed;
            }
        }
        if (solution_.age > largest_age && !refresh()) {
            forget();
        }
        if (!std::isfinite(solution_.value) || !std::isfinite(solution_.bias)) {
            forget();
            return MaxMarginStatus::failed;
        }
        if (solution_.value >= reach) {
            if (certify_solution() >= threshold) {
                return MaxMarginStatus::threshold;
            }
            if (solution_.exact || !refresh() || solution_.value >= reach) {
                forget();
                return MaxMarginStatus::failed;
            }
        }
        const double allowed = tolerance() * looseness;
        double violation = 0;
        const std::size_t row = most_violated(allowed, violation);
        if (row == none()) {
            if (solution_.exact || consistent()) {
                return MaxMarginStatus::optimal;
            }
            if (!refresh()) {
                forget();
                if (++restarts > 1) {
                    return MaxMarginStatus::failed;
                }
                start();
            }
            continue;
        }
        if (std::find(solution_.active.begin(), solution_.active.end(), row) != solution_.active.end()) {
            // A tight row is violated only by rounding: first make the solution exact, then ask for less.
            if (!solution_.exact) {
                if (!refresh()) {
                    forget();
                }
            } else {
                looseness *= 10;
                if (allowed * 10 > worst_margin_tolerance) {
                    return MaxMarginStatus::failed;
                }
            }
            continue;
        }
        switch (enter(row, violation, reach)) {
            case Entry::entered:
                break;
            case Entry::passed_threshold:
                if (certificate_value_ >= threshold) {
                    return MaxMarginStatus::threshold;
                }
                return MaxMarginStatus::failed;
            case Entry::impossible:
                if (certificate_value_ > 0 && (threshold == no_threshold || certificate_value_ >= threshold)) {
                    return MaxMarginStatus::infeasible;
                }
                return MaxMarginStatus::failed;
            case Entry::trouble:
                forget();
                if (++restarts > 1) {
                    return MaxMarginStatus::failed;
                }
                start();
                break;
        }
    }
    return MaxMarginStatus::failed;
}

// ---- proofs

void MaxMargin::certify() {
    double largest = 0;
    for (const Multiplier& multiplier : certificate_) {
        largest = std::max(largest, multiplier.value);
    }
    std::erase_if(certificate_, [largest](const Multiplier& multiplier) {
        return !(multiplier.value > support_tolerance * largest);
    });
    certificate_value_ = certified_value(samples_, extra_rows_, certificate_);
}

double MaxMargin::certify_solution() {
    certificate_.clear();
    for (std::size_t index = 0; index < solution_.active.size(); ++index) {
        certificate_.push_back({solution_.active[index], solution_.multipliers[index]});
    }
    certify();
    return certificate_value_;
}

void MaxMargin::certify_step(std::size_t row, double multiplier, double step) {
    certificate_.assign(1, {row, multiplier + step});
    for (std::size_t index = 0; index < solution_.active.size(); ++index) {
        certificate_.push_back({solution_.active[index], solution_.multipliers[index] - step * shares_[index]});
    }
    certify();
}

void MaxMargin::certify_ray(std::size_t row) {
    certificate_.assign(1, {row, 1.0});
    for (std::size_t index = 0; index < solution_.active.size(); ++index) {
        certificate_.push_back({solution_.active[index], -shares_[index]});
    }
    certify();
}

}  // namespace hardmargin
