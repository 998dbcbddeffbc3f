#include "packing/cover_lp.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/kernels.h"
#include "base/random.h"
#include "base/rounding.h"

namespace hardmargin {

namespace {

// Costs are scaled to one, so these are absolute.
constexpr double perturbation = 1e-7;
constexpr double optimality_tolerance = 1e-3;
constexpr double pivot_tolerance = 1e-7;
// Steps after which the inverse is recomputed.
constexpr std::size_t oldest_inverse = 100;
// Tolerance of the ratio test.
constexpr double hair = 1e-10;
constexpr std::size_t most_candidates = 50;
// Sets with less slack than this are priced first.
constexpr double nearly_tight_slack = 0.4;
// Multiply-adds that take about as long as the slack of a set.
constexpr std::size_t work_of_slack = 16;
// The same for the overhead of a row of the inverse.
constexpr std::size_t work_of_column = 16;
// The same for updating an item, in sequence or scattered.
constexpr std::size_t work_of_item = 4;
constexpr std::size_t work_of_scattered_item = 2;

}  // namespace

CoverLp::CoverLp(std::span<const double> costs)
    : costs_(costs.begin(), costs.end()),
      candidates_(static_cast<std::uint32_t>(costs.size())),
      nearly_tight_(static_cast<std::uint32_t>(costs.size())),
      excluded_(costs.size()),
      place_of_item_(costs.size(), nowhere),
      loads_(costs.size()),
      values_(costs.size() + 1),
      load_changes_(costs.size()) {
    double total = 0;
    for (const double cost : costs_) {
        total += cost;
    }
    scale_ = total > 0 ? total / static_cast<double>(costs_.size()) : 1.0;
    Random random(1);
    for (const double cost : costs_) {
        capacities_.push_back(cost / scale_ * (1 - perturbation * (0.5 + random.uniform())));
    }
    clear();
}

void CoverLp::clear() {
    items_.clear();
    begins_.assign(1, 0);
    for (std::uint32_t item = 0; item < item_count(); ++item) {
        add({&item, 1});
    }
    active_.clear();
    candidates_.clear();
    nearly_tight_.clear();
    start();
}

std::uint32_t CoverLp::add(std::span<const std::uint32_t> items) {
    assert(std::all_of(items.begin(), items.end(), [this](std::uint32_t item) { return item < item_count(); }));
    items_.insert(items_.end(), items.begin(), items.end());
    begins_.push_back(items_.size());
    return static_cast<std::uint32_t>(set_count() - 1);
}

void CoverLp::start() {
    basis_.sets.clear();
    basis_.items.clear();
    packing_.clear();
    std::fill(place_of_item_.begin(), place_of_item_.end(), nowhere);
    std::fill(loads_.begin(), loads_.end(), 0.0);
    std::fill(values_.begin(), values_.end(), 0.0);
    age_ = 0;
}

CoverLp::BasisSnapshot CoverLp::snapshot() const {
    const std::size_t size = basis_.sets.size();
    BasisSnapshot snapshot{basis_, std::vector<double>(size * size), age_};
    for (std::size_t place = 0; place < size; ++place) {
        std::copy_n(row_of(place), size, snapshot.inverse.data() + place * size);
    }
    return snapshot;
}

void CoverLp::load(const BasisSnapshot& snapshot) {
    const SimplexBasis& basis = snapshot.basis;
    assert(basis.sets.size() == basis.items.size());
    assert(snapshot.inverse.empty() || snapshot.inverse.size() == basis.sets.size() * basis.items.size());
    assert(
        std::all_of(basis.sets.begin(), basis.sets.end(), [this](std::uint32_t set) { return set < set_count(); }));
    assert(std::all_of(basis.items.begin(), basis.items.end(),
                       [this](std::uint32_t item) { return item < item_count(); }));
    start();
    basis_ = basis;
    age_ = snapshot.age;
    const std::size_t size = basis_.sets.size();
    for (std::size_t place = 0; place < size; ++place) {
        place_of_item_[basis_.items[place]] = place;
    }
    bool inverted = true;
    if (snapshot.inverse.empty()) {
        inverted = invert();
    } else {
        make_room(size);
        for (std::size_t place = 0; place < size; ++place) {
            std::copy_n(snapshot.inverse.data() + place * size, size, row_of(place));
        }
        work_ += size * size;
    }
    if (!inverted || !recompute()) {
        start();
    }
}

// ---- steps

void CoverLp::find_direction_of_set(std::uint32_t set) {
    const std::size_t size = basis_.sets.size();
    decreases_.assign(size, 0.0);
    std::fill(load_changes_.begin(), load_changes_.end(), 0.0);
    for (const std::uint32_t item : items(set)) {
        load_changes_[item] = 1;
        if (place_of_item_[item] != nowhere) {
            add_scaled(decreases_.data(), 1.0, row_of(place_of_item_[item]), size);
        }
    }
    find_load_changes();
}

void CoverLp::find_direction_of_item(std::size_t place, double sign) {
    const std::size_t size = basis_.sets.size();
    decreases_.assign(size, 0.0);
    std::fill(load_changes_.begin(), load_changes_.end(), 0.0);
    add_scaled(decreases_.data(), sign, row_of(place), size);
    find_load_changes();
}

void CoverLp::find_load_changes() {
    // In local variables: for all that the compiler knows, the stores below might change the members.
    double* const changes = load_changes_.data();
    std::size_t count = 0;
    for (std::size_t k = 0; k < basis_.sets.size(); ++k) {
        const double decrease = decreases_[k];
        if (decrease != 0) {
            const std::span<const std::uint32_t> members = items(basis_.sets[k]);
            count += members.size();
            for (const std::uint32_t item : members) {
                changes[item] -= decrease;
            }
        }
    }
    work_ += work_of_scattered_item * count;
}

// Harris: of all that block within a tolerance of the first, the one with the largest pivot.
CoverLp::Leaving CoverLp::ratio_test() {
    double limit = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < basis_.sets.size(); ++k) {
        if (decreases_[k] > pivot_tolerance) {
            limit = std::min(limit, (packing_[k] + hair) / decreases_[k]);
        }
    }
    find_blocking_items();
    for (const std::uint32_t item : blocking_) {
        limit = std::min(limit, (capacities_[item] - loads_[item] + hair) / load_changes_[item]);
    }
    Leaving leaving;
    double largest = 0;
    for (std::size_t k = 0; k < basis_.sets.size(); ++k) {
        if (packing_[k] <= limit * decreases_[k] && decreases_[k] > std::max(pivot_tolerance, largest)) {
            largest = decreases_[k];
            leaving = {Leaving::Kind::set, k, packing_[k] / decreases_[k]};
        }
    }
    for (const std::uint32_t item : blocking_) {
        const double free = capacities_[item] - loads_[item];
        if (free <= limit * load_changes_[item] && load_changes_[item] > largest) {
            largest = load_changes_[item];
            leaving = {Leaving::Kind::item, item, free / load_changes_[item]};
        }
    }
    leaving.step = std::max(leaving.step, 0.0);
    return leaving;
}

// Few items block, and branches on it would be mispredicted, so they are collected without branches.
void CoverLp::find_blocking_items() {
    const std::size_t all = item_count();
    blocking_.resize(all);
    std::uint32_t* const blocking = blocking_.data();
    std::size_t count = 0;
    for (std::size_t item = 0; item < all; ++item) {
        blocking[count] = static_cast<std::uint32_t>(item);
        count += static_cast<std::size_t>(load_changes_[item] > pivot_tolerance) &
                 static_cast<std::size_t>(excluded_[item] == 0) &
                 static_cast<std::size_t>(place_of_item_[item] == nowhere);
    }
    blocking_.resize(count);
}

void CoverLp::move(double step) {
    for (std::size_t k = 0; k < basis_.sets.size(); ++k) {
        packing_[k] = std::max(packing_[k] - step * decreases_[k], 0.0);
    }
    add_scaled(loads_.data(), step, load_changes_.data(), loads_.size());
}

// ---- the simplex method

double CoverLp::slack_of(std::size_t set) const {
    const std::span<const std::uint32_t> members = items(set);
    const double* const values = values_.data();
    // Independent sums: additions need not wait for each other.
    double sums[4] = {-1, 0, 0, 0};
    std::size_t k = 0;
    for (; k + 4 <= members.size(); k += 4) {
        sums[0] += values[members[k]];
        sums[1] += values[members[k + 1]];
        sums[2] += values[members[k + 2]];
        sums[3] += values[members[k + 3]];
    }
    for (; k < members.size(); ++k) {
        sums[0] += values[members[k]];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

bool CoverLp::least_covered_candidate(std::uint32_t& set, double& lack) {
    const std::span<const double> sums = candidates_.compute(values_);
    bool found = false;
    for (std::size_t k = 0; k < sums.size(); ++k) {
        if (1 - sums[k] > lack) {
            lack = 1 - sums[k];
            set = candidates_.numbers()[k];
            found = true;
        }
    }
    return found;
}

// Partial pricing: a few of the least covered sets are candidates until all of them are covered. Most of them are
// sets that were nearly tight when all sets were last priced, so all sets are priced only if none of these is
// uncovered.
void CoverLp::find_candidates() {
    candidates_.clear();
    if (!nearly_tight_.empty()) {
        lacks_.clear();
        const std::span<const double> sums = nearly_tight_.compute(values_);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            note_lack(nearly_tight_.numbers()[k], 1 - sums[k]);
        }
        work_ += nearly_tight_.size() * work_of_slack;
        take_candidates();
    }
    if (candidates_.empty()) {
        lacks_.clear();
        listed_.clear();
        for (const std::uint32_t set : active_) {
            const double slack = slack_of(set);
            note_lack(set, -slack);
            if (slack < nearly_tight_slack) {
                listed_.push_back(set);
            }
        }
        work_ += active_.size() * work_of_slack;
        nearly_tight_.assign(listed_, [this](std::uint32_t set) { return items(set); });
        take_candidates();
    }
}

void CoverLp::note_lack(std::uint32_t set, double lack) {
    if (lack > optimality_tolerance) {
        lacks_.emplace_back(lack, set);
    }
}

void CoverLp::take_candidates() {
    if (lacks_.size() > most_candidates) {
        std::nth_element(lacks_.begin(), lacks_.begin() + most_candidates, lacks_.end(), std::greater<>());
        lacks_.resize(most_candidates);
    }
    listed_.clear();
    for (const auto& [lack, set] : lacks_) {
        listed_.push_back(set);
    }
    candidates_.assign(listed_, [this](std::uint32_t set) { return items(set); });
}

double CoverLp::worth() const {
    return scale_ * std::accumulate(packing_.begin(), packing_.end(), 0.0);
}

CoverLp::Status CoverLp::solve(std::size_t step_limit, double enough) {
    candidates_.clear();
    nearly_tight_.clear();
    double value = worth();
    for (std::size_t steps = 0;; ++steps) {
        if (age_ >= oldest_inverse) {
            if (!invert() || !recompute()) {
                start();
            }
            value = worth();
        }
        if (value >= enough) {
            return Status::enough;
        }
        if (steps == step_limit || stop_()) {
            return Status::unfinished;
        }
        // Entering: a set that is not covered, an item with a negative value, or an excluded item.
        double most = optimality_tolerance;
        std::uint32_t set = 0;
        std::size_t place = nowhere;
        double sign = 1;
        bool enters = least_covered_candidate(set, most);
        if (!enters) {
            find_candidates();
            enters = least_covered_candidate(set, most);
        }
        for (std::size_t k = 0; k < basis_.items.size(); ++k) {
            const std::uint32_t item = basis_.items[k];
            const double wrong = excluded_[item] ? std::fabs(values_[item]) : -values_[item];
            if (wrong > most) {
                most = wrong;
                place = k;
                sign = values_[item] > 0 ? -1 : 1;
                enters = true;
            }
        }
        if (!enters) {
            return Status::optimal;
        }
        place == nowhere ? find_direction_of_set(set) : find_direction_of_item(place, sign);
        const Leaving leaving = ratio_test();
        if (leaving.kind == Leaving::Kind::none) {
            return Status::no_cover;
        }
        move(leaving.step);
        value += scale_ * leaving.step * most;
        if (place == nowhere) {
            if (leaving.kind == Leaving::Kind::set) {
                replace_set(leaving.place, set, most);
                packing_[leaving.place] = leaving.step;
            } else {
                append(set, static_cast<std::uint32_t>(leaving.place), most);
                packing_.push_back(leaving.step);
            }
        } else if (leaving.kind == Leaving::Kind::set) {
            remove(leaving.place, place);
        } else {
            replace_item(place, static_cast<std::uint32_t>(leaving.place));
        }
        ++age_;
        work_ += basis_.sets.size() * (basis_.sets.size() + work_of_column) + work_of_item * item_count();
    }
}

double CoverLp::excess_of(std::span<const double> loads) const {
    double excess = 1;
    for (std::size_t item = 0; item < item_count(); ++item) {
        if (!excluded_[item] && loads[item] > 0) {
            excess = std::max(excess, loads[item] * scale_ / costs_[item]);
        }
    }
    // The value of the packing and the load of an item are sums over the sets.
    return excess * (1 + sum_rounding(packing_.size()));
}

std::vector<CoverLp::WeightedSet> CoverLp::packing() const {
    std::vector<double> loads(item_count());
    for (std::size_t k = 0; k < packing_.size(); ++k) {
        for (const std::uint32_t item : items(basis_.sets[k])) {
            loads[item] += packing_[k];
        }
    }
    const double excess = excess_of(loads);
    std::vector<WeightedSet> weights;
    for (std::size_t k = 0; k < packing_.size(); ++k) {
        weights.push_back({basis_.sets[k], packing_[k] * scale_ / excess});
    }
    return weights;
}

double CoverLp::packing_value(std::vector<double>& reduced_costs) const {
    reduced_costs.assign(item_count(), 0.0);
    double total = 0;
    for (std::size_t k = 0; k < packing_.size(); ++k) {
        total += packing_[k];
        for (const std::uint32_t item : items(basis_.sets[k])) {
            reduced_costs[item] += packing_[k];
        }
    }
    const double excess = excess_of(reduced_costs);
    for (std::size_t item = 0; item < item_count(); ++item) {
        reduced_costs[item] = std::max(0.0, costs_[item] - reduced_costs[item] * scale_ / excess);
    }
    return total * scale_ / excess;
}

}  // namespace hardmargin
