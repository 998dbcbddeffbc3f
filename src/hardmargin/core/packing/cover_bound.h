// The cover bound of a subproblem: the least cost of giving up a sample of every known must-hit set.
//
// Combines the pool of certified sets with the linear program over those that are valid in the current subproblem.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "base/samples.h"
#include "packing/cover_lp.h"
#include "packing/set_pool.h"
#include "packing/set_store.h"
#include "qp/max_margin.h"

namespace hardmargin {

// The error of the cover bound is less than this many samples.
inline constexpr double cover_rounding = 1e-5;

enum class SampleStatus : unsigned char { free, kept, given_up };

class CoverBound {
public:
    enum class Validity { closed, forced, open };

    // See SetPool.
    explicit CoverBound(const Samples& samples, bool keeps_certificates = false);
    CoverBound(const CoverBound&) = delete;
    CoverBound& operator=(const CoverBound&) = delete;

    // Stores the certificate that the solver has just found, unless the pool is full.
    void learn(const MaxMargin& solver);
    // The same, for the current subproblem; false if the program's solution already covers the set, or if the pool
    // is full.
    bool add_violated(const MaxMargin& solver);

    // Exchanges sets with the store.
    void exchange(SetStore& store, std::size_t largest_memory) { store.exchange(pool_, visit_, largest_memory); }
    // Makes room for new sets, which discards the basis if the pool is too large. From then on it is full at twice
    // this many bytes.
    void trim(std::size_t largest_memory);

    // Starts a subproblem: until the next call, only it and its parts are selected for. Most sets contain a sample
    // that is given up in it, or a flip that is kept, and need not be looked at again.
    void begin(std::span<const SampleStatus> statuses);
    // Selects the sets that are valid under these decisions and this room. Closed: one of them has no free sample.
    // Forced: one of them has a single free sample, forced(), which must be given up.
    Validity select(std::span<const SampleStatus> statuses, double room);
    std::size_t forced() const { return forced_; }
    // The set that has decided this, and the certificate of a set, for proofs.
    std::size_t decisive_set() const { return decisive_; }
    std::span<const Multiplier> certificate(std::size_t index) const { return pool_.certificate(index); }

    // A lower bound on the cost of all given-up samples, including those of the subproblem. The program is not
    // solved further once its bound is `enough`.
    double solve(double enough = std::numeric_limits<double>::infinity());
    double value() const { return value_; }  // not rounded up to whole samples
    // After solve(): to what extent each sample is given up in the program; the bound if a sample is given up.
    std::span<const double> values() const { return program_.values(); }
    // After solve(): the sets of the pool whose weights prove the bound, together with the given-up samples.
    struct WeightedSet {
        std::size_t index;
        double weight;
    };
    std::vector<WeightedSet> weights() const;
    double bound_if_given_up(std::size_t sample) const {
        assert(sample < reduced_costs_.size());
        return rounded(value_ + reduced_costs_[sample]);
    }

    // The program's basis, as a warm start for subproblems below this one.
    CoverLp::BasisSnapshot snapshot() const { return program_.snapshot(); }
    // Warm starts from the basis of a subproblem above the one with these decisions.
    void load(const CoverLp::BasisSnapshot& snapshot, std::span<const SampleStatus> statuses);

    // See CoverLp.
    void set_stop(const std::function<bool()>& stop) { program_.set_stop(stop); }

    std::uint64_t work() const { return program_.work() + selection_work_; }
    std::size_t memory() const {
        return pool_.memory() + program_.memory() + (possible_.size() + valid_.size()) * sizeof(possible_[0]);
    }

private:
    double rounded(double cost) const;
    // The least value of the program whose bound is this cost.
    double value_of_bound(double cost) const;
    // Adds a certificate to the pool, and returns the index of its set.
    std::size_t remember(const MaxMargin& solver);
    bool is_full() const;
    void add_new_sets_to_program();
    // The program's sets are those of one sample each, and then the sets of the pool.
    bool is_in_pool(std::uint32_t set) const { return set >= samples_.count(); }
    std::size_t pool_index(std::uint32_t set) const {
        assert(is_in_pool(set));
        return set - samples_.count();
    }
    std::uint32_t program_set(std::size_t index) const {
        return static_cast<std::uint32_t>(samples_.count() + index);
    }
    // Whether the set may be valid in some part of the subproblem that was started.
    bool is_possible(std::size_t index) const;
    bool is_valid(std::size_t index) const;
    // Of a valid set.
    bool has_at_most_one_free_sample(std::size_t index) const;
    // Finds the sets that are valid with what is given up, whatever the room. If that is what was given up in the
    // last call, only new sets are looked at.
    void find_valid(std::span<const SampleStatus> statuses);
    void forget_selection();
    void exclude_kept(std::span<const SampleStatus> statuses);

    const Samples& samples_;
    double common_cost_;  // 0: costs differ
    SetPool pool_;
    SetStore::Visit visit_;
    CoverLp program_;
    SampleBits kept_;
    SampleBits given_up_;
    SampleBits next_given_up_;
    SampleBits kept_at_begin_;  // in the subproblem that was started
    SampleBits given_up_at_begin_;
    std::vector<std::uint32_t> possible_;  // the possible ones of the first `examined_` sets of the pool
    std::size_t examined_ = 0;
    std::vector<std::uint32_t> valid_;  // those of them that are valid with what is given up
    std::size_t largest_memory_ = std::numeric_limits<std::size_t>::max() / 2;
    std::uint64_t selection_work_ = 0;
    std::vector<double> reduced_costs_;
    double value_ = 0;
    std::size_t forced_ = 0;
    std::size_t decisive_ = 0;
};

}  // namespace hardmargin
