// The max-margin problem over a changing set of rows:
//
//     minimise 1/2 ||w||^2   subject to   a . w + c b >= d   for every enabled row
//
// by a dual active set method. The active rows are tight, w is a combination of their normals with multipliers
// lambda >= 0, and violated rows enter one at a time while the value increases. So every intermediate value is a
// lower bound, the search can stop as soon as it passes a threshold, and the last solution is a valid warm start
// when rows are enabled or disabled.
//
// The bias is exact: it has no cost, so sum lambda c = 0 always holds. One active sample, the anchor, determines b.
// The normals of the other active rows are reduced by the anchor's, a - (c / c_0) a_0, and kept in a Basis. So a
// step costs O(rows * dimension), and the condition number is not squared.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/samples.h"
#include "qp/basis.h"
#include "qp/certificate.h"
#include "qp/rows.h"

namespace hardmargin {

enum class MaxMarginStatus {
    optimal,     // w is the shortest one that satisfies all enabled rows
    threshold,   // the value reaches the threshold; certificate() proves it
    infeasible,  // unsatisfiable up to rounding; certificate() proves a lower bound on the norm of any (w, b)
    failed       // because of rounding or a stop; nothing is claimed
};

class MaxMargin {
public:
    static constexpr double no_threshold = std::numeric_limits<double>::infinity();

    // A solution of the rows that are active in it.
    struct Solution {
        std::vector<std::size_t> active;  // the anchor first, if there is one
        std::vector<double> multipliers;
        AlignedVector<double> weights;  // padded to Samples::stride()
        double bias = 0;
        double value = 0;
        Basis basis;
        int age = 0;        // updates of the basis since it was built
        bool exact = true;  // computed from the basis, not through a series of steps
    };

    explicit MaxMargin(const Samples& samples);

    const RowNumbers& rows() const { return rows_; }
    std::size_t flip_row(std::size_t sample) const { return rows_.flip(sample); }
    // A row of set_extra_rows().
    std::size_t extra_row(std::size_t index) const {
        assert(bound_rows_ + index < extra_rows_.size());
        return rows_.extra(bound_rows_ + index);
    }

    bool enabled(std::size_t row) const {
        assert(row < enabled_.size());
        return enabled_[row] != 0;
    }
    void enable(std::size_t row);
    // Also removes the row from the solution, which stays a valid warm start.
    void disable(std::size_t row);
    // Disables all rows and forgets the solution.
    void clear();
    // Keeps the enabled rows and forgets the solution.
    void forget();
    // Replaces the extra rows; they start disabled, and the solution is forgotten. Bounds on the weights are extra
    // rows besides these: they are always enabled.
    void set_extra_rows(std::vector<ExtraRow> rows);

    bool has_only_bounds_as_extra_rows() const { return extra_rows_.size() == bound_rows_; }

    // Until clear(), only samples of the pool may be enabled. Violated rows are searched for among the extra rows
    // first and then in the pool.
    void set_pool(std::span<const std::uint32_t> pool);
    // Until clear(), minimises 1/2 ||w - origin||^2 instead, which value() then returns; thresholds are not
    // allowed. Forgets the solution. If only a certificate of infeasibility is wanted, which does not depend on the
    // origin, a point that satisfies the extra rows is a good origin. `origin` has Samples::stride() entries.
    void set_origin(std::span<const double> origin);

    // `stop` is called during long solves; if it returns true they end as failed.
    void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

    // Warm starts from the current solution. Stops as soon as the value is proven to reach `threshold`.
    MaxMarginStatus solve(double threshold = no_threshold);

    // 1/2 ||w||^2: the optimum if solve() returned optimal, otherwise the value of the active rows.
    double value() const { return solution_.value; }
    std::span<const double> weights() const { return solution_.weights; }  // padded to Samples::stride()
    double bias() const { return solution_.bias; }
    // y_i (w.x_i + b) of every sample, after solve() returned optimal.
    std::span<const double> margins() const {
        if (!margins_are_complete_) {
            samples_.margins(solution_.weights.data(), solution_.bias, margins_.data());
            margins_are_complete_ = true;
        }
        return {margins_.data(), samples_.count()};
    }
    std::span<const std::size_t> active_rows() const { return solution_.active; }
    std::span<const double> multipliers() const { return solution_.multipliers; }

    // After threshold or infeasible: the rows of the proof with their multipliers, and the value they certify.
    std::span<const Multiplier> certificate() const { return certificate_; }
    double certificate_value() const { return certificate_value_; }
    // The value that the multipliers of the current solution certify; makes them the certificate.
    double certify_solution();

    // The shortest direction along which the margin of active row `index` decreases at unit rate while all other
    // active rows stay tight. `direction` has Samples::stride() entries.
    void release_direction(std::size_t index, double* direction, double& bias_direction);

    const Solution& solution() const { return solution_; }
    // Returns to an earlier solution. The rows active in it must be enabled.
    void restore(const Solution& solution) {
        solution_ = solution;
        assert(active_rows_are_enabled());
    }
    // The same, and sets which sample rows are enabled: the row that keeps sample i if kept(i), its flip if
    // flipped(i).
    template <typename Kept, typename Flipped>
    void restore(const Solution& solution, const Kept& kept, const Flipped& flipped);

    // Multiply-adds so far, for budgets that do not depend on the clock.
    std::uint64_t work() const { return work_; }
    const Samples& samples() const { return samples_; }

private:
    static constexpr std::size_t few_rows_factor = 3;

    void list(std::size_t sample) {
        place_in_list_[sample] = listed_.size();
        listed_.push_back(static_cast<std::uint32_t>(sample));
    }
    void unlist(std::size_t sample) {
        const std::uint32_t last = listed_.back();
        listed_[place_in_list_[sample]] = last;
        place_in_list_[last] = place_in_list_[sample];
        listed_.pop_back();
    }
    // Whether the enabled samples and flips are so few that pricing them one by one is faster than all samples at
    // once.
    bool few_rows() const { return few_rows_factor * (listed_.size() + flips_.size()) < samples_.count(); }
    void set_keep_offset(std::size_t sample, bool kept) {
        keep_offsets_[sample] = kept ? 0.0 : std::numeric_limits<double>::infinity();
        coarse_offsets_[sample] = kept ? 0.0f : std::numeric_limits<float>::infinity();
        if (pooled_) {
            pool_offsets_[place_in_pool_[sample]] = coarse_offsets_[sample];
        }
    }

    bool in_pool(std::size_t sample) const {
        return place_in_pool_[sample] < pool_.size() && pool_[place_in_pool_[sample]] == sample;
    }
    bool active_rows_are_enabled() const {
        return std::all_of(solution_.active.begin(), solution_.active.end(),
                           [this](std::size_t row) { return enabled(row); });
    }

    enum class EntryOutcome { entered, passed_threshold, impossible, trouble };

    double bias_coefficient(std::size_t row) const { return hardmargin::bias_coefficient(samples_, row); }
    double bound(std::size_t row) const;
    double normal_norm(std::size_t row) const;
    bool anchored() const { return !solution_.active.empty() && !rows_.is_extra(solution_.active[0]); }
    // Stores the normal of a row, reduced by the anchor's, in normal_.
    void load_reduced_normal(std::size_t row);

    // Expresses the normal of an inactive row by the active ones: sets shares_ (one per active row) and rest_, and
    // returns the squared length of the rest, or 0 if the normal lies in their span.
    double relate(std::size_t row);
    // The same for the row that was related last, after an erase().
    double relate_again(std::size_t row);
    double shares_and_length(std::size_t row);
    void append(std::size_t row, double multiplier, double squared_length);
    // Removes an active row and leaves the multipliers of the others unchanged.
    bool erase(std::size_t index);
    bool rebuild_basis();
    // Counts work within one step of a solve, and calls `stop` now and then; whether that has ended the solve.
    bool stopped_within_step(std::uint64_t work);
    // Recomputes the solution from its active rows; false if that gives a negative multiplier.
    bool refresh();
    // Whether the weights are the combination of the active normals and the active rows are tight, to working
    // precision; sets the value from the weights.
    bool consistent();
    void set_bias();

    void enable_bounds();
    void start();
    // For start(): stores the difference of the class means in normal_, and its products with the enabled samples
    // in margins_.
    void project_on_means();
    // Stores the margins of the enabled samples and flips, or of all samples, in margins_. Returns an enabled
    // sample whose violation exceeds `violation`, and sets `violation` to it; or none().
    std::size_t price_listed(double& violation);
    std::size_t price_all(double tolerance, double& violation);
    // The most violated enabled row, or none().
    std::size_t most_violated(double tolerance, double& violation);
    // A clearly violated sample, found in single precision, or none().
    std::size_t clearly_violated(double& violation);
    // Larger violations cannot be caused by single precision.
    static constexpr double clear_violation = 1e-2;
    // The most violated enabled extra row, if it exceeds `violation`, which is set to it; or none().
    std::size_t most_violated_extra_row(double& violation);
    // With a pool: such an extra row, or a clearly violated sample of the pool.
    std::size_t clearly_violated_in_pool(double tolerance, double& violation);
    // ||w - origin||^2.
    double squared_distance() const;
    void return_to_origin();
    // The bound of a row for w - origin.
    double bound_from_origin(std::size_t row) const;
    std::size_t none() const { return rows_.extra(extra_rows_.size()); }
    double tolerance() const;
    EntryOutcome enter(std::size_t row, double violation, double threshold);
    // Lowers the multiplier of an inactive row to zero, which leaves a solution of the active rows.
    bool withdraw(std::size_t row, double multiplier);
    void withdraw_or_forget(std::size_t row, double multiplier);
    // Set certificate_ from the last step of `row`, or from the ray of its direction; certify() drops the smallest
    // multipliers and computes the value of the rest.
    void certify();
    void certify_step(std::size_t row, double multiplier, double step);
    void certify_ray(std::size_t row);

    const Samples& samples_;
    RowNumbers rows_;
    std::vector<ExtraRow> extra_rows_;
    std::size_t bound_rows_ = 0;  // how many of them, at the beginning, are bounds on the weights
    std::vector<unsigned char> enabled_;
    std::vector<std::uint32_t> listed_;  // the enabled samples, in any order
    std::vector<std::size_t> place_in_list_;
    AlignedVector<double> keep_offsets_;   // 0 for enabled samples, infinity for others: branch-free pricing
    AlignedVector<float> coarse_offsets_;  // the same in single precision
    AlignedVector<float> coarse_weights_;
    AlignedVector<float> coarse_scores_;
    bool coarse_ = false;  // price in single precision while far from the solution
    bool pooled_ = false;
    std::vector<std::uint32_t> pool_;
    std::vector<std::uint32_t> place_in_pool_;  // by samples
    AlignedVector<float> pool_values_;          // in tiles, as CoarseColumns
    AlignedVector<float> pool_labels_;
    AlignedVector<float> pool_scales_;
    AlignedVector<float> pool_offsets_;
    std::vector<double> origin_;  // empty: 0
    double origin_length_ = 0;
    std::array<std::size_t, 2> enabled_counts_{};  // of the negative and the positive samples
    std::vector<std::size_t> flips_;               // the enabled flips
    Solution solution_;
    mutable AlignedVector<double> margins_;
    mutable bool margins_are_complete_ = true;  // of all samples, not only of the enabled ones
    AlignedVector<double> normal_;
    AlignedVector<double> rest_;
    std::vector<double> projections_;
    double rest_squared_ = 0;
    bool split_is_current_ = false;  // normal_, projections_ and rest_ belong to the current basis
    std::vector<double> shares_;
    std::vector<Multiplier> certificate_;
    double certificate_value_ = 0;
    std::uint64_t work_ = 0;
    std::uint64_t work_at_stop_ = 0;
    std::uint64_t work_within_steps_ = 0;  // since `stop` was called there; in addition to work_
    std::function<bool()> stop_;
};

template <typename Kept, typename Flipped>
void MaxMargin::restore(const Solution& solution, const Kept& kept, const Flipped& flipped) {
    assert(!pooled_);
    std::fill_n(enabled_.begin(), rows_.sample_rows(), static_cast<unsigned char>(0));
    flips_.clear();
    listed_.clear();
    enabled_counts_ = {0, 0};
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        const bool keep = kept(i);
        enabled_[i] = keep;
        if (keep) {
            list(i);
        }
        enabled_counts_[samples_.label(i) > 0] += keep;
        set_keep_offset(i, keep);
        if (flipped(i)) {
            enabled_[flip_row(i)] = 1;
            flips_.push_back(flip_row(i));
        }
    }
    solution_ = solution;
    assert(active_rows_are_enabled());
}

}  // namespace hardmargin
