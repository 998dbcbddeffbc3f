// One subproblem of the search over which samples to give up, with everything known about it.
//
// Samples are free, kept or given up. A *must-hit set* is a set of free samples of which every solution better than
// the incumbent gives up at least one. Let K be the cost of the given-up samples and P what the packed sets cost:
// the sets share out the costs of their members so that no sample's shares exceed its cost, and each counts its
// share once (for equal costs: disjoint sets, each worth C). A better solution costs at least K + P beside its
// norm, so its norm term is below the room that is left, upper - K - P. Hence:
//
//   * If keeping the kept samples and a set S of free ones costs more than the room in the norm alone, S is a
//     must-hit set. The max-margin solver stops as soon as its value passes the room, and its certificate names S.
//     No free sample in it: the subproblem is closed. One: it is given up.
//   * A given-up sample may be assumed to stay at or inside its margin, because otherwise it could be kept for
//     nothing: a row for the solver (a flip), which costs nothing in a set.
//   * A must-hit set is a fact about the subproblem, which later facts may build on. So a set may be certified
//     again under the present room, which counts the set itself, and lose members (shrink); and one set may be
//     dissolved to look for two in its place, still under the room that counted it (repack).
//   * Sets may overlap. The cover bound (packing/cover_bound.h) is what giving up one sample of every known set
//     costs at least, and counts in the place of P where it is larger.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/samples.h"
#include "packing/cover_bound.h"
#include "packing/knowledge.h"
#include "packing/node.h"
#include "qp/max_margin.h"
#include "tree/subproblem.h"

namespace hardmargin {

struct PackingOptions {
    // Solutions have to be better than the incumbent by this share to be of interest.
    double gap = 1e-6;
    // Where bound and incumbent are this many samples or more apart, the cover bound is used beside the packing; if
    // nothing is said, where it pays (packing/cover_choice.h).
    std::optional<double> cover_distance = std::nullopt;
    // Bytes of certified sets to remember, in each thread, and once more in what the threads share.
    std::size_t pool_memory = 1ull << 30;
    // What is known from earlier searches, which must have been over the same samples, and what this one adds.
    // PackingState must have it if it uses the cover bound; others make one if it is missing.
    std::shared_ptr<PackingKnowledge> knowledge = nullptr;

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
        double shrunk_room = 0;  // the room and the decisions under which shrinking was last tried
        std::uint64_t shrunk_decisions = 0;
    };

    // All that changes from subproblem to subproblem.
    struct Snapshot {
        std::vector<SampleStatus> statuses;
        std::vector<double> residual;
        std::vector<PackedSet> sets;
        double given_up_cost = 0;
        double packed_cost = 0;
        double proven_cost = 0;
        std::shared_ptr<const CoverLp::BasisSnapshot> cover_basis;
        std::uint64_t decisions = 0;
        MaxMargin::Solution solution;
        MaxMargin::Solution decided_solution;
    };

    PackingState(const Samples& samples, const PackingOptions& options, ImproveFunction improve);
    PackingState(const PackingState&) = delete;
    PackingState& operator=(const PackingState&) = delete;

    // Only hyperplanes that satisfy these rows are of interest from now on; load() must be next. std::logic_error
    // together with the cover bound: its sets are to hold everywhere, and could not name these rows.
    void set_region(const std::vector<ExtraRow>& rows);

    // Starts at a subproblem, with nothing known but its decisions and the sets of others.
    void load(const PackingNode& node, double upper);
    double upper() const { return upper_; }
    PackingNode node(double bound) const;

    // Packs sets and draws conclusions until nothing new comes.
    Verdict tighten();

    // What the last tighten() has decided about the cover bound; none if that is not chosen by
    // observation, or if the question did not come up.
    const std::optional<CoverChoice::Decision>& decision() const { return decision_; }
    std::uint64_t work_at_decision() const { return work_at_decision_; }
    // Whether to do without the cover bound from now on.
    void go_without_cover(bool without) { without_cover_ = without; }
    // Lets others have the sets that were found.
    void share_sets();

    // Decide a free sample. Closed if a set has no member left.
    void give_up(std::size_t sample);
    Verdict keep(std::size_t sample);

    // A lower bound on every solution of the subproblem that is better than the incumbent: costs decided and
    // packed, and the norm that the decided samples alone ask for.
    double bound();

    const std::vector<PackedSet>& sets() const { return sets_; }
    bool is_free(std::size_t sample) const {
        assert(sample < statuses_.size());
        return statuses_[sample] == SampleStatus::free;
    }
    double room() const;
    // How far each sample is given up in the cover bound; empty if it was not asked for here.
    std::span<const double> cover_values() const { return cover_values_; }

    void save(Snapshot& snapshot) const;
    void restore(const Snapshot& snapshot);

    std::uint64_t work() const { return solver_.work() + decided_.work() + separator_.work() + cover_.work(); }
    void set_stop(const std::function<bool()>& stop);

private:
    enum class Found { nothing, something, closed };

    double safely_below(double cost) const { return cost * (1 - rounding_share_); }
    double known_cost() const { return std::max(given_up_cost_ + packed_cost_, proven_cost_); }
    double effective_upper() const { return upper_ * (1 - options_.gap); }
    Verdict extend();
    Found shrink();
    Found shrink_set(std::size_t index);
    Found repack();
    Found repack_set(std::size_t index);
    // How many samples bound and incumbent are apart.
    double distance() const;
    // Whether to use the cover bound in this subproblem.
    bool uses_cover();
    // Whether sets are remembered for it.
    bool learns() const { return options_.uses_cover() && !without_cover_; }
    Found cover();
    // The same, with the basis that it starts from in place.
    Found raise_cover();
    Found keep_what_is_too_dear();
    void set_up_separator(double largest_value);
    // Adds sets to the cover bound that its solution does not cover, from samples with values up to this.
    Found find_uncovered_sets(double largest_value);
    // Whether these free samples and the decided ones alone pass the room; decided_ has the certificate.
    bool certify_alone(const std::vector<Member>& members);
    // What the norm costs at least.
    double norm_of_decided();
    // Gives the last members of sets with one member up.
    void settle_single_sets();
    void dissolve(std::size_t index);
    void pack(std::vector<Member> members);
    bool has_cost_left(std::size_t sample) const;
    void adjust_residual(std::size_t sample, double change);
    void collect_free_members(const MaxMargin& solver, std::vector<Member>& members) const;

    const Samples& samples_;
    // Sums of costs may be rounded: they are believed but for this share.
    const double rounding_share_;
    PackingOptions options_;
    bool without_cover_ = false;
    std::optional<CoverChoice::Decision> decision_;
    std::uint64_t work_at_decision_ = 0;
    ImproveFunction improve_;
    double upper_ = 0;
    MaxMargin solver_;   // kept samples, flips, and free samples with cost left
    MaxMargin decided_;  // kept samples and flips; free ones only while a set is looked at
    std::vector<SampleStatus> statuses_;
    std::vector<double> residual_;
    std::vector<PackedSet> sets_;
    double given_up_cost_ = 0;
    double packed_cost_ = 0;
    double proven_cost_ = 0;  // what the solutions of the subproblem give up costs at least this
    std::uint64_t decisions_ = 0;
    CoverBound cover_;
    // The basis to go on from, and the one that cover_ has; none means one without sets. Subproblems share them.
    std::shared_ptr<const CoverLp::BasisSnapshot> cover_basis_;
    std::shared_ptr<const CoverLp::BasisSnapshot> loaded_basis_;
    MaxMargin separator_;  // kept samples, flips, and free samples with small values in the cover bound
    std::vector<double> cover_values_;
    std::size_t region_rows_ = 0;
    bool is_loaded_ = false;
    std::function<bool()> stop_ = [] { return false; };
    Snapshot before_repack_;
    std::vector<Member> found_;
    double typical_cost_ = 0;
};

}  // namespace hardmargin
