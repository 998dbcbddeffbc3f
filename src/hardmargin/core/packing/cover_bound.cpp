#include "packing/cover_bound.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>
#include <vector>

namespace hardmargin {

namespace {

// The pool is trimmed to the second number of sets when it exceeds the first.
constexpr std::size_t largest_pool = 60'000;
constexpr std::size_t trimmed_pool = 25'000;
// Steps of the simplex method in one solve.
constexpr std::size_t step_limit = 2'000;
// A set counts as covered if the values of its samples miss 1 by no more than this.
constexpr double violation_tolerance = 1e-4;

[[maybe_unused]] bool includes(const SampleBits& all, const SampleBits& some) {
    for (std::size_t k = 0; k < all.words().size(); ++k) {
        if ((some.words()[k] & ~all.words()[k]) != 0) {
            return false;
        }
    }
    return true;
}

void collect(std::span<const SampleStatus> statuses, SampleStatus status, SampleBits& bits) {
    bits.clear();
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        if (statuses[i] == status) {
            bits.insert(i);
        }
    }
}

}  // namespace

CoverBound::CoverBound(const Samples& samples, bool keeps_certificates)
    : samples_(samples),
      common_cost_(samples.common_cost()),
      pool_(samples.count(), keeps_certificates),
      program_(samples.costs()),
      kept_(samples.count()),
      given_up_(samples.count()),
      next_given_up_(samples.count()),
      kept_at_begin_(samples.count()),
      given_up_at_begin_(samples.count()) {}

// If all samples that are not certain cost the same, a cover costs a whole number of them: certain ones are kept.
double CoverBound::rounded(double cost) const {
    if (common_cost_ <= 0) {
        return cost;
    }
    return std::max(cost, common_cost_ * std::ceil(cost / common_cost_ - cover_rounding));
}

double CoverBound::value_of_bound(double cost) const {
    if (common_cost_ <= 0) {
        return cost;
    }
    return common_cost_ * (std::ceil(cost / common_cost_) - 1 + 2 * cover_rounding);
}

void CoverBound::learn(const MaxMargin& solver) {
    if (!is_full()) {
        remember(solver);
    }
}

bool CoverBound::is_full() const {
    return pool_.size() >= 2 * largest_pool || memory() > 2 * largest_memory_;
}

std::size_t CoverBound::remember(const MaxMargin& solver) {
    assert(solver.has_only_bounds_as_extra_rows());
    return pool_.add(solver.certificate(), solver.certificate_value());
}

void CoverBound::add_new_sets_to_program() {
    const auto next = static_cast<std::uint32_t>(program_.set_count());
    for (std::size_t index = pool_index(next); index < pool_.size(); ++index) {
        program_.add(pool_.samples(index));
    }
}

bool CoverBound::add_violated(const MaxMargin& solver) {
    if (is_full()) {
        return false;
    }
    const std::size_t index = remember(solver);
    add_new_sets_to_program();
    const std::uint32_t set = program_set(index);
    if (program_.slack_of(set) > -violation_tolerance) {
        return false;
    }
    program_.activate(set);
    return true;
}

void CoverBound::trim(std::size_t largest_memory) {
    largest_memory_ = largest_memory;
    if (pool_.size() <= largest_pool && memory() <= largest_memory) {
        return;
    }
    pool_.trim(std::min(trimmed_pool, pool_.size() / 2));
    forget_selection();
    program_.clear();
    add_new_sets_to_program();
}

void CoverBound::load(const CoverLp::BasisSnapshot& snapshot, std::span<const SampleStatus> statuses) {
    exclude_kept(statuses);
    program_.load(snapshot);
}

void CoverBound::exclude_kept(std::span<const SampleStatus> statuses) {
    assert(statuses.size() == samples_.count());
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        program_.exclude(i, statuses[i] == SampleStatus::kept);
    }
}

void CoverBound::begin(std::span<const SampleStatus> statuses) {
    collect(statuses, SampleStatus::kept, kept_at_begin_);
    collect(statuses, SampleStatus::given_up, given_up_at_begin_);
    forget_selection();
}

void CoverBound::forget_selection() {
    possible_.clear();
    valid_.clear();
    examined_ = 0;
}

bool CoverBound::is_possible(std::size_t index) const {
    const std::uint64_t* const samples = pool_.sample_bits(index).data();
    const std::uint64_t* const flips = pool_.flip_bits(index).data();
    const std::span<const std::uint64_t> given_up = given_up_at_begin_.words();
    const std::span<const std::uint64_t> kept = kept_at_begin_.words();
    std::uint64_t against = 0;
    for (std::size_t k = 0; k < given_up.size(); ++k) {
        against |= (samples[k] & given_up[k]) | (flips[k] & kept[k]);
    }
    return against == 0;
}

// Whether none of its samples and all of its flips are given up.
bool CoverBound::is_valid(std::size_t index) const {
    const std::uint64_t* const samples = pool_.sample_bits(index).data();
    const std::uint64_t* const flips = pool_.flip_bits(index).data();
    const std::span<const std::uint64_t> given_up = given_up_.words();
    std::uint64_t against = 0;
    for (std::size_t k = 0; k < given_up.size(); ++k) {
        against |= (samples[k] & given_up[k]) | (flips[k] & ~given_up[k]);
    }
    return against == 0;
}

void CoverBound::find_valid(std::span<const SampleStatus> statuses) {
    collect(statuses, SampleStatus::kept, kept_);
    collect(statuses, SampleStatus::given_up, next_given_up_);
    const bool unchanged = next_given_up_ == given_up_;
    if (!unchanged) {
        valid_.clear();
        std::swap(given_up_, next_given_up_);
    }
    assert(includes(kept_, kept_at_begin_) && includes(given_up_, given_up_at_begin_));
    const std::size_t words = given_up_.words().size();
    const std::size_t known = unchanged ? possible_.size() : 0;
    selection_work_ += (pool_.size() - examined_) * words;
    for (; examined_ < pool_.size(); ++examined_) {
        if (is_possible(examined_)) {
            possible_.push_back(static_cast<std::uint32_t>(examined_));
        }
    }
    selection_work_ += (possible_.size() - known) * words;
    for (std::size_t k = known; k < possible_.size(); ++k) {
        if (is_valid(possible_[k])) {
            valid_.push_back(possible_[k]);
        }
    }
}

// Without counting bits, which takes a function call where the CPU may lack the instruction.
bool CoverBound::has_at_most_one_free_sample(std::size_t index) const {
    const std::span<const std::uint64_t> samples = pool_.sample_bits(index);
    const std::span<const std::uint64_t> kept = kept_.words();
    bool found = false;
    for (std::size_t k = 0; k < kept.size(); ++k) {
        const std::uint64_t free = samples[k] & ~kept[k];
        if ((found && free != 0) || (free & (free - 1)) != 0) {
            return false;
        }
        found = found || free != 0;
    }
    return true;
}

CoverBound::Validity CoverBound::select(std::span<const SampleStatus> statuses, double room) {
    add_new_sets_to_program();
    exclude_kept(statuses);
    find_valid(statuses);
    std::vector<std::uint32_t> active;
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        if (statuses[i] == SampleStatus::given_up) {
            active.push_back(static_cast<std::uint32_t>(i));
        }
    }
    for (const std::uint32_t index : valid_) {
        if (pool_.value(index) < room) {
            continue;
        }
        if (has_at_most_one_free_sample(index)) {
            decisive_ = index;
            bool closed = true;
            for (const std::uint32_t sample : pool_.samples(index)) {
                if (statuses[sample] == SampleStatus::free) {
                    forced_ = sample;
                    closed = false;
                }
            }
            return closed ? Validity::closed : Validity::forced;
        }
        active.push_back(program_set(index));
    }
    program_.set_active(std::move(active));
    return Validity::open;
}

std::vector<CoverBound::WeightedSet> CoverBound::weights() const {
    std::vector<WeightedSet> weights;
    for (const CoverLp::WeightedSet& set : program_.packing()) {
        if (is_in_pool(set.set) && set.weight > 0) {
            weights.push_back({pool_index(set.set), set.weight});
        }
    }
    return weights;
}

double CoverBound::solve(double enough) {
    // Even if it does not finish, the packing is feasible, and packing_value() is valid.
    const CoverLp::Status status = program_.solve(step_limit, value_of_bound(enough));
    value_ = program_.packing_value(reduced_costs_);
    if (status == CoverLp::Status::enough && rounded(value_) < enough) {
        // Because of rounding.
        program_.solve(step_limit);
        value_ = program_.packing_value(reduced_costs_);
    }
    for (const std::uint32_t set : program_.basis().sets) {
        if (is_in_pool(set)) {
            pool_.note_use(pool_index(set));
        }
    }
    return rounded(value_);
}

}  // namespace hardmargin
