// What a subproblem may still cost: its room below the value to beat, and the limits of a budget.
#include <algorithm>

#include "packing/state.h"

namespace hardmargin {

namespace {

// A bound on costs that is higher by this share closes a subproblem in spite of all roundings, except rare ones.
constexpr double closing_slack = 1e-9;

}  // namespace

double PackingState::room() const {
    const double rounding = rounding_share_ * options_.objective.room(upper_, 0);
    const double by_cost = cutoff().room(known_cost()) + rounding + rounding_share_ * options_.budget.credit();
    return std::min(by_cost, options_.objective.room(effective_upper(), priced_cost()) + rounding);
}

double PackingState::priced_cost() const {
    double cost = 0;
    for (const bool positive : {false, true}) {
        cost += options_.budget.limits(positive) ? 0.0 : given_up_of_class_[positive];
    }
    return cost;
}

double PackingState::known_cost_of_class(bool positive) const {
    double cost = given_up_of_class_[positive];
    for (const PackedSet& set : sets_) {
        const bool is_of_class = std::all_of(set.members.begin(), set.members.end(), [&](const Member& member) {
            return (samples_.label(member.sample) > 0) == positive;
        });
        cost += is_of_class ? set.share : 0.0;
    }
    return cost;
}

bool PackingState::exceeds_budget() const {
    const Budget& budget = options_.budget;
    if (budget.limits_all() && safely_below(known_cost()) > budget.credit()) {
        return true;
    }
    for (const bool positive : {false, true}) {
        if (budget.of_class(positive) < Budget::unlimited &&
            safely_below(known_cost_of_class(positive)) > budget.of_class(positive)) {
            return true;
        }
    }
    return false;
}

double PackingState::closing_cost() const {
    const double cost = options_.budget.limits_all() ? options_.budget.credit() : cutoff().needed(0);
    return cost * (1 + closing_slack);
}

bool PackingState::is_too_dear(double cost, double norm) const {
    return norm >= cutoff().room(safely_below(cost)) ||
           (options_.budget.limits_all() && safely_below(cost) > options_.budget.credit());
}

}  // namespace hardmargin
