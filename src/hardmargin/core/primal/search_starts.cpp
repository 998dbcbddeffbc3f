// The starts of the primal search.
#include <algorithm>
#include <array>
#include <cmath>

#include "primal/search.h"

namespace hardmargin {

namespace {

constexpr std::size_t hinge_passes = 200;
constexpr std::size_t repeated_hinge_passes = 60;
// Limits of the hinge losses, in units of hinge_unit_, and the margins from which on samples are kept initially.
constexpr std::array hinge_factors = {0.03, 0.3, 3.0, 30.0, 300.0};
constexpr std::array hinge_margins = {0.999, 0.5, 0.1, 0.01};
// The same for reweighted losses. Every third repeat is used as a start, with one of two margins in turn.
constexpr std::array reweighted_factors = {3.0, 100.0, 3000.0, 30.0, 1000.0};
constexpr int reweightings = 12;
constexpr int repeats_of_descent = 3;
constexpr double even_repeat_margin = 0.5;
constexpr double odd_repeat_margin = 0.05;
constexpr double tolerated_slack = 0.1;
// The same for ramp losses: the range of factors, and of the margin below which samples are left out.
constexpr double least_ramp_factor = 0.03;
constexpr double ramp_decades = 4;
constexpr double least_far_margin = -1.0;
constexpr double far_margin_range = 1.2;
constexpr double left_out_share = 0.4;
constexpr int ramp_repeats = 6;
constexpr std::array ramp_margins = {0.999, 0.3, 0.02};
// Sorting and searching the projections costs about as much as this many features.
constexpr std::size_t features_of_offset_search = 100;
// How often a new start comes from a ramp loss; otherwise from a random direction.
constexpr double ramp_share = 0.75;

}  // namespace

void PrimalSearch::set_limits(double factor, std::span<const double> shares) {
    limits_.resize(samples_.count());
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        limits_[i] = factor * hinge_unit_ * samples_.cost(i) * (shares.empty() ? 1.0 : shares[i]);
    }
}

void PrimalSearch::descend_from(const Hyperplane& hyperplane, double margin) {
    samples_.margins(hyperplane.weights.data(), hyperplane.bias, margins_.data());
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        marked_[i] = margins_[i] >= margin;
    }
    if (keep_only_marked()) {
        note();
        take_back();
    }
}

void PrimalSearch::screen(const Hyperplane& hyperplane) {
    screened_.push_back(offset_search_.minimise(hyperplane.weights));
    const OffsetSearch::Optimum& found = screened_.back();
    work_ += samples_.padded_count() * (samples_.dimension() + features_of_offset_search);
    if (found.objective < best_.objective) {
        offer_as_best(found.hyperplane);
    }
}

void PrimalSearch::descend_from_screened() {
    std::sort(screened_.begin(), screened_.end(),
              [](const OffsetSearch::Optimum& left, const OffsetSearch::Optimum& right) {
                  return left.objective < right.objective;
              });
    for (const OffsetSearch::Optimum& start : screened_) {
        if (out_of_budget()) {
            return;
        }
        descend_from(start.hyperplane, nearly_kept_margin);
    }
    screened_.clear();
}

// If all samples can be kept for less than the incumbent, this is a very good start, and often the optimum.
void PrimalSearch::start_from_all_samples() {
    solver_.clear();
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        solver_.enable(i);
    }
    if (solver_.solve(best_.objective) == MaxMarginStatus::optimal) {
        note();
    }
}

void PrimalSearch::start_from_classes() {
    for (const double label : {-1.0, 1.0}) {
        for (std::size_t i = 0; i < samples_.count(); ++i) {
            marked_[i] = samples_.label(i) == label;
        }
        if (keep_only_marked()) {
            note();
        }
    }
}

void PrimalSearch::start_from_hinge_losses() {
    hinge_.reset();
    for (const double factor : hinge_factors) {
        set_limits(factor, {});
        const Hyperplane& hyperplane = hinge_.solve(limits_, hinge_passes, random_, stop_);
        for (const double margin : hinge_margins) {
            if (out_of_budget()) {
                return;
            }
            descend_from(hyperplane, margin);
        }
    }
}

// Repeatedly lowering the limits of samples with large slack concentrates the slack in few samples.
void PrimalSearch::start_from_reweighted_losses() {
    std::vector<double> shares(samples_.count());
    for (const double factor : reweighted_factors) {
        hinge_.reset();
        std::fill(shares.begin(), shares.end(), 1.0);
        for (int repeat = 0; repeat < reweightings; ++repeat) {
            if (out_of_budget()) {
                return;
            }
            set_limits(factor, shares);
            const Hyperplane& hyperplane = hinge_.solve(limits_, repeated_hinge_passes, random_, stop_);
            samples_.margins(hyperplane.weights.data(), hyperplane.bias, margins_.data());
            for (std::size_t i = 0; i < samples_.count(); ++i) {
                shares[i] = tolerated_slack / (tolerated_slack + std::max(0.0, 1 - margins_[i]));
            }
            if (repeat % repeats_of_descent == repeats_of_descent - 1) {
                descend_from(hyperplane, repeat % 2 == 0 ? even_repeat_margin : odd_repeat_margin);
            }
        }
    }
}

// Repeats the hinge loss without the samples far on the wrong side: the concave-convex procedure for the ramp loss.
void PrimalSearch::start_from_ramp_loss(bool subsample) {
    const double factor = least_ramp_factor * std::pow(10.0, ramp_decades * random_.uniform());
    const double far = least_far_margin + far_margin_range * random_.uniform();
    std::vector<double> shares(samples_.count(), 1.0);
    if (subsample) {
        for (double& share : shares) {
            share = random_.uniform() < left_out_share ? 0.0 : 1.0;
        }
    }
    hinge_.reset();
    for (int repeat = 0; repeat < ramp_repeats; ++repeat) {
        set_limits(factor, shares);
        const Hyperplane& hyperplane = hinge_.solve(limits_, repeated_hinge_passes, random_, stop_);
        samples_.margins(hyperplane.weights.data(), hyperplane.bias, margins_.data());
        bool changed = false;
        for (std::size_t i = 0; i < samples_.count(); ++i) {
            const double share = margins_[i] < far ? 0.0 : 1.0;
            changed = changed || share != shares[i];
            shares[i] = share;
        }
        if (!changed || repeat + 1 == ramp_repeats) {
            descend_from(hyperplane, ramp_margins[random_.below(ramp_margins.size())]);
            return;
        }
    }
}

void PrimalSearch::start_from_random_direction() {
    for (std::size_t k = 0; k < samples_.dimension(); ++k) {
        direction_[k] = random_.normal();
    }
    const OffsetSearch::Optimum optimum = offset_search_.minimise(direction_);
    work_ += samples_.padded_count() * (samples_.dimension() + features_of_offset_search);
    descend_from(optimum.hyperplane, nearly_kept_margin);
}

void PrimalSearch::start_anew() {
    if (random_.uniform() < ramp_share) {
        start_from_ramp_loss(true);
    } else {
        start_from_random_direction();
    }
}

}  // namespace hardmargin
