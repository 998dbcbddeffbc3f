#include "cover_bound.h"

#include <algorithm>
#include <cmath>

namespace hardmargin {

namespace {

constexpr std::size_t largest_pool = 20'000;
constexpr std::size_t trimmed_pool = 8'000;
constexpr std::size_t step_limit = 2'000;
// Values of the program this close to covering a set do cover it.
constexpr double violation_tolerance = 1e-4;
// The bound is known to better than this many samples.
constexpr double rounding_tolerance = 1e-5;

}  // namespace

CoverBound::CoverBound(const Samples& samples)
    : samples_(samples), common_cost_(samples.common_cost()), pool_(samples.count()), program_(samples.costs()) {}

// Sets are at most as cheap as a whole number of samples, if all cost the same.
double CoverBound::rounded(double cost) const {
    if (common_cost_ <= 0) {
        return cost;
    }
    return std::max(cost, common_cost_ * std::ceil(cost / common_cost_ - rounding_tolerance));
}

void CoverBound::learn(const MaxMargin& solver) {
    if (pool_.size() >= 2 * largest_pool) {
        return;
    }
    pool_.add(solver.certificate(), solver.certificate_value());
}

void CoverBound::add_new_sets_to_program() {
    for (std::size_t index = program_.set_count() - samples_.count(); index < pool_.size(); ++index) {
        program_.add(pool_[index].samples);
    }
}

bool CoverBound::add_violated(const MaxMargin& solver) {
    const std::size_t index = pool_.add(solver.certificate(), solver.certificate_value());
    add_new_sets_to_program();
    const auto set = static_cast<std::uint32_t>(samples_.count() + index);
    if (program_.slack_of(set) > -violation_tolerance) {
        return false;
    }
    program_.activate(set);
    return true;
}

void CoverBound::trim(std::size_t largest_memory) {
    if (pool_.size() <= largest_pool && pool_.memory() <= largest_memory) {
        return;
    }
    pool_.trim(std::min(trimmed_pool, pool_.size() / 2));
    program_.clear();
    add_new_sets_to_program();
}

void CoverBound::load(const CoverLp::Basis& basis, std::span<const SampleStatus> statuses) {
    exclude_kept(statuses);
    program_.load(basis);
}

void CoverBound::exclude_kept(std::span<const SampleStatus> statuses) {
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        program_.exclude(i, statuses[i] == SampleStatus::kept);
    }
}

CoverBound::Validity CoverBound::select(std::span<const SampleStatus> statuses, double room) {
    add_new_sets_to_program();
    std::vector<std::uint32_t> active;
    exclude_kept(statuses);
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        if (statuses[i] == SampleStatus::given_up) {
            active.push_back(static_cast<std::uint32_t>(i));
        }
    }
    for (std::size_t index = 0; index < pool_.size(); ++index) {
        const SetPool::CertifiedSet& set = pool_[index];
        if (set.value < room) {
            continue;
        }
        std::size_t free = 0;
        std::uint32_t last_free = 0;
        bool hit = false;
        for (const std::uint32_t sample : set.samples) {
            if (statuses[sample] == SampleStatus::given_up) {
                hit = true;
                break;
            }
            if (statuses[sample] == SampleStatus::free) {
                ++free;
                last_free = sample;
            }
        }
        if (hit || !std::all_of(set.flips.begin(), set.flips.end(),
                                [&](std::uint32_t sample) { return statuses[sample] == SampleStatus::given_up; })) {
            continue;
        }
        if (free <= 1) {
            forced_ = last_free;
            return free == 0 ? Validity::closed : Validity::forced;
        }
        active.push_back(static_cast<std::uint32_t>(samples_.count() + index));
    }
    program_.set_active(std::move(active));
    return Validity::open;
}

double CoverBound::solve() {
    // However far it gets: the packing is feasible, and worth what packing_value() says.
    program_.solve(step_limit);
    for (const std::uint32_t set : program_.basis().sets) {
        if (set >= samples_.count()) {
            pool_.note_use(set - samples_.count());
        }
    }
    value_ = program_.packing_value(reduced_costs_);
    return rounded(value_);
}

}  // namespace hardmargin
