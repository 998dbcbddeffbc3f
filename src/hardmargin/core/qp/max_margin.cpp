#include "qp/max_margin.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "base/kernels.h"

namespace hardmargin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Shares closer to zero than this do not limit a step.
constexpr double share_tolerance = 1e-12;
// Rows must be satisfied to this tolerance if rounding permits, and always to the worst one.
constexpr double margin_tolerance = 1e-10;
constexpr double worst_margin_tolerance = 1e-6;
// Rounding of a margin, relative to the size of its terms.
constexpr double margin_rounding = 64 * std::numeric_limits<double>::epsilon();
// The factor by which the tolerance grows if rounding violates a tight row of an exact solution.
constexpr double loosening = 10;
// The value must exceed the threshold by this share, so that rounding cannot invalidate the certificate.
constexpr double threshold_slack = 1e-11;
// Multipliers smaller than this share of the largest one are dropped from a certificate.
constexpr double support_tolerance = 1e-12;
// Updates after which the basis is rebuilt.
constexpr int largest_age = 100;
// How often a solve in numerical trouble is restarted.
constexpr int most_restarts = 1;
// A solve that begins with a solution, or without the deepest samples of both classes (start()), takes few steps.
// With fewer values, single precision saves less in them than the last pricing, always in double precision, costs.
constexpr std::size_t least_coarse_values = 8192;
// Calling `stop` costs nothing compared with this many multiply-adds.
constexpr std::uint64_t work_between_stops = 100000;
// Steps that take longer than this many multiply-adds, some hundredths of a second, need many features.
constexpr std::uint64_t work_between_stops_within_steps = 50'000'000;

// Far more steps than a row needs to enter or leave, and rows than a solve needs, unless rounding causes cycling.
std::size_t step_limit(const Samples& samples) {
    return 4 * samples.dimension() + 16;
}

std::size_t iteration_limit(const Samples& samples) {
    return 50 * (samples.dimension() + 20) + samples.count();
}

}  // namespace

MaxMargin::MaxMargin(const Samples& samples)
    : samples_(samples),
      rows_(samples.count()),
      enabled_(rows_.sample_rows()),
      place_in_list_(samples.count()),
      keep_offsets_(samples.padded_count(), infinity),
      coarse_offsets_(samples.padded_count(), std::numeric_limits<float>::infinity()),
      coarse_weights_(samples.stride()),
      coarse_scores_(samples.padded_count()),
      solution_{{}, {}, AlignedVector<double>(samples.stride()), 0, 0, Basis(samples.dimension(), samples.stride()),
                0},
      margins_(samples.padded_count()),
      normal_(samples.stride()),
      rest_(samples.stride()),
      projections_(samples.dimension() + 1),
      shares_(samples.dimension() + 2) {
    if (samples.has_weight_bounds()) {
        extra_rows_ = weight_rows(samples.weight_bounds());
        bound_rows_ = extra_rows_.size();
        enabled_.resize(rows_.sample_rows() + bound_rows_);
        enable_bounds();
    }
}

// ---- rows

void MaxMargin::enable(std::size_t row) {
    assert(row < enabled_.size());
    if (enabled_[row] != 0) {
        return;
    }
    enabled_[row] = 1;
    if (rows_.keeps(row)) {
        assert(!pooled_ || in_pool(row));
        set_keep_offset(row, true);
        list(row);
        ++enabled_counts_[samples_.label(row) > 0];
    } else if (rows_.is_flip(row)) {
        flips_.push_back(row);
    }
}

void MaxMargin::disable(std::size_t row) {
    assert(row < enabled_.size());
    assert(!rows_.is_extra(row) || rows_.extra_index(row) >= bound_rows_);
    if (enabled_[row] == 0) {
        return;
    }
    enabled_[row] = 0;
    if (rows_.keeps(row)) {
        set_keep_offset(row, false);
        unlist(row);
        --enabled_counts_[samples_.label(row) > 0];
    } else if (rows_.is_flip(row)) {
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
    pooled_ = false;
    origin_.clear();
    origin_length_ = 0;
    std::fill(enabled_.begin(), enabled_.end(), static_cast<unsigned char>(0));
    enable_bounds();
    std::fill(keep_offsets_.begin(), keep_offsets_.end(), infinity);
    std::fill(coarse_offsets_.begin(), coarse_offsets_.end(), std::numeric_limits<float>::infinity());
    flips_.clear();
    listed_.clear();
    enabled_counts_ = {0, 0};
    forget();
}

void MaxMargin::forget() {
    solution_.active.clear();
    solution_.multipliers.clear();
    solution_.basis.clear();
    return_to_origin();
    solution_.bias = 0;
    solution_.value = 0;
    solution_.age = 0;
    solution_.exact = true;
}

void MaxMargin::set_extra_rows(std::vector<ExtraRow> rows) {
    forget();
    assert(std::all_of(rows.begin(), rows.end(),
                       [this](const ExtraRow& row) { return row.normal.size() == samples_.stride(); }));
    extra_rows_.resize(bound_rows_);
    std::move(rows.begin(), rows.end(), std::back_inserter(extra_rows_));
    enabled_.resize(rows_.sample_rows());
    enabled_.resize(rows_.sample_rows() + extra_rows_.size());
    enable_bounds();
}

void MaxMargin::enable_bounds() {
    std::fill_n(enabled_.begin() + static_cast<std::ptrdiff_t>(rows_.sample_rows()), bound_rows_,
                static_cast<unsigned char>(1));
}

// ---- the search

void MaxMargin::start() {
    // With w = 0 all samples look alike. Start with the two that lie deepest in the other class along the line
    // through the class means.
    const std::size_t n = samples_.count();
    if (enabled_counts_[0] == 0 || enabled_counts_[1] == 0 || extra_rows_.size() > bound_rows_ || !flips_.empty()) {
        return;
    }
    project_on_means();
    std::size_t deepest[2] = {n, n};
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t& current = deepest[samples_.label(i) > 0];
        if (enabled_[i] != 0 && (current == n || margins_[i] < margins_[current])) {
            current = i;
        }
    }
    coarse_ = !few_rows();
    solution_.active.push_back(deepest[0]);
    solution_.multipliers.push_back(0.0);
    set_bias();
    // w = 0, and the anchor sets b: the other class has a margin of -1.
    constexpr double violation = 2;
    if (enter(deepest[1], violation, infinity) != EntryOutcome::entered) {
        forget();
    }
}

void MaxMargin::project_on_means() {
    const double shares[2] = {1.0 / static_cast<double>(enabled_counts_[0]),
                              1.0 / static_cast<double>(enabled_counts_[1])};
    std::fill(normal_.begin(), normal_.end(), 0.0);
    if (few_rows()) {
        for (const std::uint32_t i : listed_) {
            add_scaled(normal_.data(), shares[samples_.label(i) > 0], samples_.row(i), samples_.stride());
        }
        for (const std::uint32_t i : listed_) {
            margins_[i] = dot(samples_.row(i), normal_.data(), samples_.stride());
        }
        work_ += 2 * listed_.size() * samples_.stride();
        return;
    }
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        margins_[i] = enabled_[i] != 0 ? shares[samples_.label(i) > 0] : 0.0;
    }
    add_rows(samples_.row(0), samples_.count(), samples_.stride(), margins_.data(), normal_.data());
    samples_.margins(normal_.data(), 0.0, margins_.data());
    work_ += 2 * samples_.padded_count() * samples_.dimension();
}

double MaxMargin::tolerance() const {
    const double length = std::sqrt(2 * solution_.value) + origin_length_;
    const double size = length * samples_.largest_norm() + std::abs(solution_.bias);
    return std::clamp(margin_rounding * size, margin_tolerance, worst_margin_tolerance);
}

MaxMargin::EntryOutcome MaxMargin::enter(std::size_t row, double violation, double threshold) {
    double multiplier = 0;
    const std::size_t most_steps = step_limit(samples_);
    for (std::size_t steps = 0; steps < most_steps; ++steps) {
        if (steps > 0 && stopped_within_step(4 * solution_.basis.count() * samples_.stride())) {
            return EntryOutcome::trouble;
        }
        if (!anchored() && !rows_.is_extra(row)) {
            // b is free. The balance requires a multiplier of zero, and normals of extra rows need no anchor.
            solution_.active.insert(solution_.active.begin(), row);
            solution_.multipliers.insert(solution_.multipliers.begin(), 0.0);
            solution_.exact = false;
            set_bias();
            return EntryOutcome::entered;
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
            return EntryOutcome::impossible;
        }
        const double value = solution_.value + step * (violation - 0.5 * step * squared_length);
        if (value >= threshold) {
            certify_step(row, multiplier, step);
            withdraw_or_forget(row, multiplier);
            return EntryOutcome::passed_threshold;
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
            return EntryOutcome::entered;
        }
        if (!erase(leaving)) {
            return EntryOutcome::trouble;
        }
    }
    return EntryOutcome::trouble;
}

bool MaxMargin::withdraw(std::size_t row, double multiplier) {
    const std::size_t most_steps = step_limit(samples_);
    for (std::size_t steps = 0; multiplier > 0; ++steps) {
        if (steps == most_steps || (!anchored() && !rows_.is_extra(row)) ||
            (steps > 0 && stopped_within_step(4 * solution_.basis.count() * samples_.stride()))) {
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
    solution_.value = 0.5 * squared_distance();
    return true;
}

bool MaxMargin::stopped_within_step(std::uint64_t work) {
    work_within_steps_ += work;
    if (!stop_ || work_within_steps_ < work_between_stops_within_steps) {
        return false;
    }
    work_within_steps_ = 0;
    return stop_();
}

void MaxMargin::withdraw_or_forget(std::size_t row, double multiplier) {
    if (!withdraw(row, multiplier)) {
        forget();
    }
}

MaxMarginStatus MaxMargin::solve(double threshold) {
    assert(origin_.empty() || threshold == no_threshold);
    assert(!std::isnan(threshold));
    const double reach = threshold * (1 + threshold_slack);
    const std::size_t most_iterations = iteration_limit(samples_);
    double looseness = 1;
    int restarts = 0;
    coarse_ = !pooled_ && !few_rows() && samples_.count() * samples_.dimension() >= least_coarse_values;
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
                if (++restarts > most_restarts) {
                    return MaxMarginStatus::failed;
                }
                start();
            }
            continue;
        }
        if (std::find(solution_.active.begin(), solution_.active.end(), row) != solution_.active.end()) {
            // Only rounding can violate a tight row: make the solution exact, then loosen the tolerance.
            if (!solution_.exact) {
                if (!refresh()) {
                    forget();
                }
            } else {
                looseness *= loosening;
                if (allowed * loosening > worst_margin_tolerance) {
                    return MaxMarginStatus::failed;
                }
            }
            continue;
        }
        switch (enter(row, violation, reach)) {
            case EntryOutcome::entered:
                break;
            case EntryOutcome::passed_threshold:
                if (certificate_value_ >= threshold) {
                    return MaxMarginStatus::threshold;
                }
                return MaxMarginStatus::failed;
            case EntryOutcome::impossible:
                if (certificate_value_ > 0 && (threshold == no_threshold || certificate_value_ >= threshold)) {
                    return MaxMarginStatus::infeasible;
                }
                return MaxMarginStatus::failed;
            case EntryOutcome::trouble:
                forget();
                if (++restarts > most_restarts) {
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
