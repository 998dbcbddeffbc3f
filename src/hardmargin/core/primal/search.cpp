#include "primal/search.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "base/kernels.h"

namespace hardmargin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Smaller improvements are rounding.
constexpr double noticeable = 1 - 1e-12;
// Factors of the hinge losses whose directions are tried first.
constexpr std::array screening_factors = {3.0, 0.1, 100.0};
constexpr std::size_t screening_passes = 30;
// Starts from ramp losses; the first ones use all samples, the others a random part of them.
constexpr int ramp_starts = 16;
constexpr int full_ramp_starts = 4;
constexpr int direction_starts = 8;

// Shares of the kinds of move.
constexpr double release_moves = 0.75;
constexpr double turn_moves = 0.05;
constexpr double upward_share = 0.75;
// Support samples that a move without a line gives up.
constexpr std::size_t most_let_go = 3;
// How often all given-up samples are tried again; always if a place is this close to the best one.
constexpr double take_back_share = 0.05;
constexpr double close_to_best = 1.003;
// The mean of how much worse than the previous place an accepted one may be: the smaller one of this many typical
// costs and this share of the objective.
constexpr double heat_in_costs = 0.7;
constexpr double heat_share = 0.035;
// Rounds without success before the walk returns or restarts.
constexpr std::uint64_t patience = 1000;
// One in this many times the walk restarts instead of returning to the best place.
constexpr std::uint64_t tries_per_restart = 3;

// Shorter steps along a line are no move.
constexpr double shortest_step = 1e-9;
// Sorting the events of a line costs about as much as this many features.
constexpr std::size_t features_of_sorting = 20;
// Samples that cost nearly as much to keep as to give up are not taken back.
constexpr double worthwhile = 1 - 1e-10;
constexpr int most_failures = 2;

}  // namespace

PrimalSearch::PrimalSearch(const Samples& samples, std::uint64_t seed)
    : samples_(samples),
      solver_(samples),
      hinge_(samples),
      line_search_(samples.costs()),
      offset_search_(samples),
      random_(seed),
      best_place_{{}, solver_.solution(), infinity},
      marked_(samples.count()),
      margins_(samples.padded_count()),
      slopes_(samples.padded_count()),
      direction_(samples.stride()),
      stop_([this] { return out_of_budget(); }) {
    solver_.set_stop(stop_);
    double squares = 0;
    for (std::size_t i = 0; i < samples.count(); ++i) {
        squares += samples.norm(i) * samples.norm(i);
    }
    if (samples.count() > 0) {
        typical_cost_ = samples.typical_cost();
        hinge_unit_ = static_cast<double>(samples.count()) /
                      (std::max(squares, std::numeric_limits<double>::min()) * typical_cost_);
    }
    start_flat();
}

void PrimalSearch::start_flat() {
    best_ = give_up_cheaper_class(samples_);
    best_place_.kept.resize(samples_.count());
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        best_place_.kept[i] = samples_.label(i) * best_.bias > 0 ? 1 : 0;
    }
    best_place_.objective = best_.objective;
}

void PrimalSearch::set_budget(Control& control, const Budget& budget) {
    control_ = &control;
    budget_ = budget;
    budget_.work += work();
}

bool PrimalSearch::out_of_budget() {
    return work() >= budget_.work || best_.objective <= budget_.target ||
           control_->stop({best_.objective, budget_.lower_bound, rounds_});
}

void PrimalSearch::start(Control& control, const Budget& budget) {
    set_budget(control, budget);
    start_from_all_samples();
    for (const double factor : screening_factors) {
        if (control.ended()) {
            return;
        }
        set_limits(factor, {});
        screen(hinge_.solve(limits_, screening_passes, random_, stop_));
    }
    descend_from_screened();
    if (control.ended()) {
        return;
    }
    start_from_classes();
    start_from_hinge_losses();
    start_from_reweighted_losses();
    for (int start = 0; start < ramp_starts && !out_of_budget(); ++start) {
        start_from_ramp_loss(start >= full_ramp_starts);
    }
    for (int start = 0; start < direction_starts && !out_of_budget(); ++start) {
        start_from_random_direction();
    }
}

void PrimalSearch::offer(Control& control, const Budget& budget, const Hyperplane& hyperplane) {
    assert(hyperplane.weights.size() == samples_.stride());
    set_budget(control, budget);
    offer_as_best(hyperplane);
    descend_from(hyperplane, kept_margin);
}

// ---- the walk

void PrimalSearch::walk(Control& control, const Budget& budget) {
    set_budget(control, budget);
    Place here = best_place_;
    go_to(here);
    double best_of_walk = here.objective;
    double best_at_last_try = best_.objective;
    std::uint64_t last_success = rounds_;
    for (std::uint64_t tries = 0; tries < budget.tries && !out_of_budget();) {
        ++rounds_;
        const double heat = std::min(heat_in_costs * typical_cost_, heat_share * best_.objective);
        const double acceptable = here.objective - heat * std::log(1 - random_.uniform());
        const Move move = make_move(acceptable);
        if (move == Move::moved) {
            note();
            if (random_.uniform() < take_back_share || objective_here() < close_to_best * best_.objective) {
                take_back();
            }
        }
        if (move == Move::moved && objective_here() <= acceptable) {
            save(here);
        } else if (move != Move::none) {
            go_to(here);
        }
        if (here.objective < best_of_walk) {
            best_of_walk = here.objective;
            last_success = rounds_;
        } else if (rounds_ - last_success > patience) {
            last_success = rounds_;
            tries = best_.objective < best_at_last_try ? 0 : tries + 1;
            best_at_last_try = best_.objective;
            if (tries % tries_per_restart == tries_per_restart - 1) {
                start_anew();
                save(here);
            } else {
                here = best_place_;
                go_to(here);
            }
            best_of_walk = here.objective;
        }
    }
}

// Tries to move to a place whose objective is at most `acceptable`.
PrimalSearch::Move PrimalSearch::make_move(double acceptable) {
    const bool supported = is_supported();
    const double dice = random_.uniform();
    if (supported && dice < release_moves) {
        return follow(release_route(), acceptable);
    }
    if (!supported || dice < release_moves + turn_moves) {
        return follow(turn_route(), acceptable);
    }
    return let_go();
}

// The place of an active row that keeps a sample; bounds on the weights are active rows too.
std::optional<std::size_t> PrimalSearch::random_support() {
    const std::span<const std::size_t> active = solver_.active_rows();
    const auto keeps = [this](std::size_t row) { return solver_.rows().keeps(row); };
    const auto count = static_cast<std::size_t>(std::count_if(active.begin(), active.end(), keeps));
    std::size_t left = count > 0 ? random_.below(count) : 0;
    for (std::size_t index = 0; index < active.size(); ++index) {
        if (keeps(active[index]) && left-- == 0) {
            return index;
        }
    }
    return std::nullopt;
}

bool PrimalSearch::is_supported() const {
    const std::span<const std::size_t> active = solver_.active_rows();
    return std::any_of(active.begin(), active.end(), [this](std::size_t row) { return solver_.rows().keeps(row); });
}

// Releases one support sample; the others stay tight. With positive steps it falls inside its margin, with negative
// ones it is kept with room to spare.
PrimalSearch::Route PrimalSearch::release_route() {
    Route route{0, shortest_step, infinity};
    solver_.release_direction(*random_support(), direction_.data(), route.bias_direction);
    if (random_.uniform() >= upward_share) {
        route.from = -infinity;
        route.to = -shortest_step;
    }
    return route;
}

// Turns the hyperplane about one sample, in the plane of its normal and the difference of two samples.
PrimalSearch::Route PrimalSearch::turn_route() {
    const std::size_t n = samples_.count();
    const std::size_t first = random_.below(n);
    const std::size_t second = random_.below(n);
    std::fill(direction_.begin(), direction_.end(), 0.0);
    add_scaled(direction_.data(), samples_.label(first), samples_.row(first), samples_.stride());
    add_scaled(direction_.data(), -samples_.label(second), samples_.row(second), samples_.stride());
    std::size_t pivot = random_.below(n);
    if (const std::optional<std::size_t> index = random_support()) {
        pivot = solver_.rows().sample(solver_.active_rows()[*index]);
    }
    const double turn = dot(direction_.data(), samples_.row(pivot), samples_.stride());
    return {-samples_.label(pivot) * turn, -infinity, infinity};
}

PrimalSearch::Move PrimalSearch::follow(const Route& route, double acceptable) {
    samples_.margins(direction_.data(), route.bias_direction, slopes_.data());
    work_ += samples_.padded_count() * (samples_.dimension() + features_of_sorting);
    const std::span<const double> weights = solver_.weights();
    const Line line{solver_.margins(),
                    {slopes_.data(), samples_.count()},
                    dot(weights.data(), weights.data(), samples_.stride()),
                    dot(weights.data(), direction_.data(), samples_.stride()),
                    dot(direction_.data(), direction_.data(), samples_.stride())};
    const LineMinimum minimum = line_search_.minimise(line, route.from, route.to, acceptable);
    if (!(minimum.objective <= acceptable) || minimum.step == 0) {
        return Move::none;
    }
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        marked_[i] = solver_.margins()[i] + minimum.step * slopes_[i] >= nearly_kept_margin;
    }
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (marked_[i] != 0) {
            solver_.enable(i);
        } else {
            solver_.disable(i);
        }
    }
    return make_affordable() ? Move::moved : Move::lost;
}

PrimalSearch::Move PrimalSearch::let_go() {
    const std::size_t count = 1 + random_.below(most_let_go);
    for (std::size_t k = 0; k < count; ++k) {
        const std::optional<std::size_t> index = random_support();
        if (!index) {
            break;
        }
        solver_.disable(solver_.active_rows()[*index]);
        if (!make_affordable()) {
            return Move::lost;
        }
    }
    return Move::moved;
}

// Keeps every sample that costs less to keep than to give up.
void PrimalSearch::take_back() {
    while (take_some_back()) {
    }
    note();
}

bool PrimalSearch::take_some_back() {
    given_up_.clear();
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (!solver_.enabled(i)) {
            if (solver_.margins()[i] >= kept_margin) {
                solver_.enable(i);
            } else {
                given_up_.push_back(i);
            }
        }
    }
    // The nearest ones are the most likely.
    std::sort(given_up_.begin(), given_up_.end(), [this](std::size_t left, std::size_t right) {
        const double left_margin = solver_.margins()[left];
        const double right_margin = solver_.margins()[right];
        return left_margin > right_margin || (left_margin == right_margin && left < right);
    });
    bool improved = false;
    MaxMargin::Solution before = solver_.solution();
    for (const std::size_t i : given_up_) {
        if (out_of_budget()) {
            break;
        }
        solver_.enable(i);
        if (solver_.solve((before.value + samples_.cost(i)) * worthwhile) == MaxMarginStatus::optimal) {
            before = solver_.solution();
            improved = true;
        } else {
            solver_.disable(i);
            solver_.restore(before);
        }
    }
    // Updates the margins.
    solver_.solve();
    return improved;
}

bool PrimalSearch::keep_only_marked() {
    solver_.clear();
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (marked_[i] != 0) {
            solver_.enable(i);
        }
    }
    return make_affordable();
}

bool PrimalSearch::make_affordable() {
    for (int failures = 0; failures < most_failures;) {
        const MaxMarginStatus status = solver_.solve(best_.objective);
        if (status == MaxMarginStatus::optimal) {
            return true;
        }
        if (out_of_budget()) {
            return false;
        }
        if (status == MaxMarginStatus::failed) {
            solver_.forget();
            ++failures;
            continue;
        }
        std::size_t chosen = samples_.count();
        double largest = -1;
        for (const Multiplier& multiplier : solver_.certificate()) {
            if (!solver_.rows().keeps(multiplier.row)) {
                continue;
            }
            const double score = multiplier.value * (0.5 + random_.uniform()) / samples_.cost(multiplier.row);
            if (score > largest) {
                largest = score;
                chosen = multiplier.row;
            }
        }
        if (chosen == samples_.count()) {
            // The bounds on the weights alone are too expensive.
            return false;
        }
        solver_.disable(chosen);
    }
    return false;
}

// ---- places

double PrimalSearch::objective_here() const {
    return violations(samples_, solver_.margins()).objective(solver_.value());
}

void PrimalSearch::note() {
    if (objective_here() < best_.objective * noticeable && become_best(solver_.weights(), solver_.bias())) {
        save(best_place_);
    }
}

void PrimalSearch::offer_as_best(const Hyperplane& hyperplane) {
    if (become_best(hyperplane.weights, hyperplane.bias)) {
        best_place_.kept = marked_;
        best_place_.solution = MaxMargin(samples_).solution();
        best_place_.objective = best_.objective;
    }
}

// The incumbent's objective is computed from the hyperplane alone, not from the solver's state.
bool PrimalSearch::become_best(std::span<const double> weights, double bias) {
    std::vector<double> clipped(weights.begin(), weights.end());
    samples_.clip(clipped);
    samples_.margins(clipped.data(), bias, margins_.data());
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        marked_[i] = margins_[i] >= kept_margin;
    }
    Incumbent candidate = evaluate(samples_, clipped, bias, margins_);
    if (!(candidate.objective < best_.objective * noticeable)) {
        return false;
    }
    best_ = std::move(candidate);
    return true;
}

void PrimalSearch::save(Place& place) const {
    place.kept.resize(samples_.count());
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        place.kept[i] = solver_.enabled(i) ? 1 : 0;
    }
    place.solution = solver_.solution();
    place.objective = objective_here();
}

void PrimalSearch::go_to(const Place& place) {
    solver_.restore(
        place.solution, [&](std::size_t i) { return place.kept[i] != 0; }, [](std::size_t) { return false; });
    // Updates the margins.
    solver_.solve();
}

}  // namespace hardmargin
