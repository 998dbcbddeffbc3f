// Where the primal search begins.
#include <algorithm>
#include <cmath>

#include "primal/search.h"

namespace hardmargin {

namespace {

constexpr std::size_t hinge_passes = 200;
constexpr std::size_t repeated_hinge_passes = 60;
constexpr int reweightings = 12;
constexpr int ramp_repeats = 6;

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
    screened_.push_back(offset_search_.minimise(hyperplane.weights, stop_));
    const OffsetSearch::Optimum& found = screened_.back();
    work_ += samples_.padded_count() * (samples_.dimension() + 100);
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

// If all samples can be kept for less than the incumbent costs, that is a very good start, and often the optimum.
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
    for (const double factor : {0.03, 0.3, 3.0, 30.0, 300.0}) {
        set_limits(factor, {});
        const Hyperplane& hyperplane = hinge_.solve(limits_, hinge_passes, random_, stop_);
        for (const double margin : {0.999, 0.5, 0.1, 0.01}) {
            if (out_of_budget()) {
                return;
            }
            descend_from(hyperplane, margin);
        }
    }
}

// Limits that fall with the slack, repeated, gather the slack in few samples.
void PrimalSearch::start_from_reweighted_losses() {
    constexpr double tolerated_slack = 0.1;
    std::vector<double> shares(samples_.count());
    for (const double factor : {3.0, 100.0, 3000.0, 30.0, 1000.0}) {
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
            if (repeat % 3 == 2) {
                descend_from(hyperplane, repeat % 2 == 0 ? 0.5 : 0.05);
            }
        }
    }
}

// Hinge loss without the samples far on the wrong side, repeated: the concave-convex procedure for the ramp
// loss.
void PrimalSearch::start_from_ramp_loss(bool subsample) {
    constexpr double left_out_share = 0.4;
    const double factor = 0.03 * std::pow(10.0, 4 * random_.uniform());
    const double far = -1.0 + 1.2 * random_.uniform();
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
            const double margins[] = {0.999, 0.3, 0.02};
            descend_from(hyperplane, margins[random_.below(3)]);
            return;
        }
    }
}

void PrimalSearch::start_from_random_direction() {
    for (std::size_t k = 0; k < samples_.dimension(); ++k) {
        direction_[k] = random_.normal();
    }
    const OffsetSearch::Optimum optimum = offset_search_.minimise(direction_, stop_);
    work_ += samples_.padded_count() * (samples_.dimension() + 100);
    descend_from(optimum.hyperplane, nearly_kept_margin);
}

void PrimalSearch::start_anew() {
    if (random_.uniform() < 0.75) {
        start_from_ramp_loss(true);
    } else {
        start_from_random_direction();
    }
}

}  // namespace hardmargin
