// One subproblem of the search over samples, with everything known about it.
//
// Samples are free, kept or given up. A *must-hit set* is a set of free samples of which every solution better than
// the incumbent gives up at least one. Let K be the cost of the given-up samples and P the cost of the packed sets:
// the sets share out the costs of their members so that the shares of a sample do not exceed its cost, and each set
// counts its share once (for equal costs: disjoint sets, each worth C). A better solution costs at least K + P in
// addition to its norm, so its norm term is below the room, upper - K - P. Hence:
//
//   * If keeping the kept samples and a set S of free ones costs more than the room in the norm alone, S is a
//     must-hit set. The max-margin solver stops as soon as its value passes the room, and S is the set of free
//     samples in its certificate. If S is empty, the subproblem is closed. If S has one sample, that sample is
//     given up.
//   * A given-up sample can be assumed to lie at or inside its margin, because otherwise it could be kept at no
//     cost. This is a row for the solver (a flip), which does not count as a member of a set.
//   * A must-hit set is a fact about the subproblem that later conclusions may use. So a set can be certified again
//     under the current room, which already counts the set itself, and lose members (shrink). And one set can be
//     dissolved to look for two in its place, still under the room that counted it (repack).
//   * Sets may overlap. The cover bound (packing/cover_bound.h) is the least cost of giving up a sample of every
//     known set. It replaces P where it is larger.
//
// If a budget limits what is given up (packing/budget.h), its credit is added to the room. But the room is never
// above upper minus the given-up samples of priced classes, so that a budget that is not used up does not buy norm.
// A subproblem is also closed if its given-up samples and packed sets exceed the budget, where a class counts the
// sets that have members of that class only; and samples that do not fit into what is left of the budget are kept.
// A given-up sample still lies at or inside its margin, because keeping it would use less of the budget.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/objective.h"
#include "base/samples.h"
#include "packing/budget.h"
#include "packing/cover_bound.h"
#include "packing/knowledge.h"
#include "packing/node.h"
#include "packing/trace.h"
#include "qp/max_margin.h"
#include "tree/proof_sink.h"
#include "tree/subproblem.h"

namespace hardmargin {

struct PackingOptions {
    // Only solutions better than the incumbent by this share are searched for.
    double gap = 1e-6;
    // What is minimised; by default the objective at the C of the samples.
    Objective objective{};
    // The cover bound is used where bound and incumbent are at least this many samples apart; by default where it
    // is observed to pay (packing/cover_choice.h).
    std::optional<double> cover_distance = std::nullopt;
    // Bytes of certified sets, per thread, and once more for the sets that the threads share.
    std::size_t pool_memory = 1ull << 30;
    // Limits on what may be given up. The search then needs a finite `upper`.
    Budget budget = {};
    // What earlier searches over the same samples have learnt; this one adds to it. PackingState requires it if it
    // uses the cover bound; PackingTree and packing_search() create it if it is missing.
    std::shared_ptr<PackingKnowledge> knowledge = nullptr;
    // Where PackingTree writes a record for every subproblem that it searches; none if no proof is wanted.
    std::shared_ptr<ProofSink> proof = nullptr;
    // The number of the root in it.
    std::uint64_t proof_number = 0;
    // Whether to make these records in any case.
    bool traces = false;

    bool uses_cover() const { return !cover_distance || *cover_distance < std::numeric_limits<double>::infinity(); }
};

class PackingState {
public:
    static constexpr double no_cover = std::numeric_limits<double>::infinity();

    struct Member {
        std::size_t sample;
        double multiplier;  // in the certificate that found the set
    };

    struct PackedSet {
        std::vector<Member> members;
        double share;
        PackingTrace::SetNumber number = 0;  // in the record of a proof
        double shrunk_room = 0;              // the room and decisions of the last attempt to shrink it
        std::uint64_t shrunk_decisions = 0;
    };

    // Everything that differs between subproblems.
    struct Snapshot {
        std::vector<SampleStatus> statuses;
        std::vector<double> residual;
        std::vector<PackedSet> sets;
        double given_up_cost = 0;
        std::array<double, 2> given_up_of_class{};
        double packed_cost = 0;
        double proven_cost = 0;
        std::shared_ptr<const CoverLp::BasisSnapshot> cover_basis;
        std::uint64_t decisions = 0;
        MaxMargin::Solution solution;
        MaxMargin::Solution decided_solution;

        // Bytes of the inverse of the cover bound's basis, which can be computed again.
        std::size_t inverse_memory() const { return cover_basis ? cover_basis->memory() : 0; }
        void forget_inverse();
    };

    PackingState(const Samples& samples, const PackingOptions& options, ImproveFunction improve);
    PackingState(const PackingState&) = delete;
    PackingState& operator=(const PackingState&) = delete;

    // Restricts the search to hyperplanes that satisfy these rows; load() must follow. Throws std::logic_error if
    // the cover bound is used: its sets must be valid everywhere, and cannot contain these rows.
    void set_region(const std::vector<ExtraRow>& rows);

    // Starts a subproblem. Only its decisions, and the sets of earlier ones, are known; certain samples are kept.
    void load(const PackingNode& node, double upper);
    double upper() const { return upper_; }
    PackingNode node(double bound) const;

    // Packs sets and draws conclusions until nothing new follows.
    Verdict tighten();

    // The last tighten()'s decision about the cover bound. None if it is not chosen by observation, or if no
    // decision was needed.
    const std::optional<CoverChoice::Decision>& decision() const { return decision_; }
    std::uint64_t work_at_decision() const { return work_at_decision_; }
    // Whether to skip the cover bound from now on.
    void go_without_cover(bool without) { without_cover_ = without; }
    // Shares the sets that were found.
    void share_sets();

    // Decide a free sample. Closed if a set loses its last member.
    void give_up(std::size_t sample);
    Verdict keep(std::size_t sample);

    // A lower bound on every solution of the subproblem that is better than the incumbent: the costs decided and
    // packed, plus the norm that the decided samples alone need.
    double bound();

    const std::vector<PackedSet>& sets() const { return sets_; }
    bool is_free(std::size_t sample) const {
        assert(sample < statuses_.size());
        return statuses_[sample] == SampleStatus::free;
    }
    double room() const;
    // To what extent the cover bound gives up each sample; empty if it was not used here.
    std::span<const double> cover_values() const { return cover_values_; }

    void save(Snapshot& snapshot) const;
    void restore(const Snapshot& snapshot);

    // The record of a proof that is being written; null if none is wanted.
    PackingTrace* trace() { return trace_.get(); }

    std::uint64_t work() const { return solver_.work() + decided_.work() + separator_.work() + cover_.work(); }
    void set_stop(const std::function<bool()>& stop);

private:
    enum class Found { nothing, something, closed };

    double safely_below(double cost) const { return cost * (1 - rounding_share_); }
    double known_cost() const { return std::max(given_up_cost_ + packed_cost_, proven_cost_); }
    double effective_upper() const { return upper_ * (1 - options_.gap); }
    Cutoff cutoff() const { return {options_.objective, effective_upper(), options_.budget.credit()}; }
    // The given-up samples of priced classes.
    double priced_cost() const;
    // A lower bound on the given-up samples of a class, from its given-up samples and packed sets.
    double known_cost_of_class(bool positive) const;
    bool exceeds_budget() const;
    // Whether no solution of the subproblem is better than the incumbent.
    bool is_used_up() const { return room() <= 0 || exceeds_budget(); }
    // Whether no better solution gives up samples of this cost with a norm term of at least `norm`.
    bool is_too_dear(double cost, double norm) const;
    // A bound on the cost of given-up samples that closes the subproblem, up to rounding.
    double closing_cost() const;
    // Keeps the samples that do not fit into what is left of the budget.
    Verdict keep_what_does_not_fit();
    Verdict extend();
    Found shrink();
    Found shrink_set(std::size_t index);
    Found repack();
    Found repack_set(std::size_t index);
    // The difference of bound and incumbent, in samples.
    double distance() const;
    // Whether to use the cover bound in this subproblem.
    bool uses_cover();
    // Whether certified sets are stored for the cover bound.
    bool learns() const { return options_.uses_cover() && !without_cover_; }
    Found cover();
    // The same, after the basis was loaded.
    Found raise_cover();
    Found keep_what_is_too_dear();
    void set_up_separator(double largest_value);
    // Finds sets that the solution of the cover bound does not cover, among samples with values up to this.
    Found find_uncovered_sets(double largest_value);
    // The sum of the members' values in the cover bound: the set is covered if it is at least 1.
    double covered_by(const std::vector<Member>& members) const;
    // Whether these free samples and the decided ones alone exceed the room; decided_ has the certificate.
    bool certify_alone(const std::vector<Member>& members);
    // A lower bound on the norm term.
    double norm_of_decided();
    // Gives up the members of sets with one member.
    void settle_single_sets();
    void dissolve(std::size_t index);
    void pack(std::vector<Member> members, PackingTrace::SetNumber number);
    // For the record of a proof, if one is written: the packing as it is, the certificate that a solver has just
    // found, a set of the pool, the weights that prove the cover bound, and that the subproblem is closed by its
    // cost.
    void write_packing();
    PackingTrace::SetNumber write(const MaxMargin& solver);
    PackingTrace::SetNumber write_pool_set(std::size_t index);
    void write_cover();
    void write_closed_by_cost();
    bool has_cost_left(std::size_t sample) const;
    void adjust_residual(std::size_t sample, double change);
    void collect_free_members(const MaxMargin& solver, std::vector<Member>& members) const;

    const Samples& samples_;
    // Bound on the relative rounding error of sums of costs.
    const double rounding_share_;
    PackingOptions options_;
    bool without_cover_ = false;
    std::optional<CoverChoice::Decision> decision_;
    std::uint64_t work_at_decision_ = 0;
    ImproveFunction improve_;
    double upper_ = 0;
    MaxMargin solver_;   // kept samples, flips, and free samples with cost left
    MaxMargin decided_;  // kept samples and flips; free ones only while a set is examined
    std::vector<SampleStatus> statuses_;
    std::vector<double> residual_;
    std::vector<PackedSet> sets_;
    double given_up_cost_ = 0;
    std::array<double, 2> given_up_of_class_{};  // of the negatives and the positives
    double packed_cost_ = 0;
    double proven_cost_ = 0;  // lower bound on the cost of given-up samples, from the cover bound
    std::uint64_t decisions_ = 0;
    CoverBound cover_;
    // The basis to warm start from, and the one loaded in cover_; null is the empty basis. Shared by subproblems.
    std::shared_ptr<const CoverLp::BasisSnapshot> cover_basis_;
    std::shared_ptr<const CoverLp::BasisSnapshot> loaded_basis_;
    MaxMargin separator_;  // kept samples, flips, and free samples with small values in the cover bound
    std::vector<double> cover_values_;
    std::size_t region_rows_ = 0;
    bool is_loaded_ = false;
    std::function<bool()> stop_ = [] { return false; };
    Snapshot before_repack_;
    std::vector<Member> found_;
    std::unique_ptr<PackingTrace> trace_;
    std::vector<PackingTrace::Packed> packed_;
    bool cover_is_written_ = false;
    double typical_cost_;
};

}  // namespace hardmargin
