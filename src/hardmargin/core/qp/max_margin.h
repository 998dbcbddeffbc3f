// The max-margin problem over a changing set of rows:
//
//     minimise 1/2 ||w||^2   subject to   a . w + c b >= d   for every enabled row
//
// by a dual active set method: the active rows are tight, w is the combination of their normals with multipliers
// lambda >= 0, and violated rows enter one at a time while the value only grows. Hence every intermediate value is
// a lower bound, the search can stop as soon as it passes a threshold, and the last solution stays a valid start
// when rows are enabled or disabled.
//
// The bias is exact: it has no cost, so sum lambda c = 0 always holds. One active sample, the anchor, fixes b; the
// normals of the other active rows are reduced by the anchor's, a - (c / c_0) a_0, and kept in a Basis, so that a
// step costs O(rows * dimension) and conditioning is not squared.
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

#include "base/samples.h"
#include "qp/basis.h"
#include "qp/certificate.h"
#include "qp/rows.h"

namespace hardmargin {

enum class MaxMarginStatus {
    optimal,     // all enabled rows are satisfied, and w is the shortest such
    threshold,   // the value reaches the threshold; certificate() proves it
    infeasible,  // but for rounding no (w, b) satisfies the enabled rows; certificate() proves how long any would
                 // be
    failed       // rounding or a stop got in the way; nothing is claimed
};

class MaxMargin {
public:
    static constexpr double no_threshold = std::numeric_limits<double>::infinity();

    // A solution of the rows that are active in it.
    struct Solution {
        std::vector<std::size_t> active;  // the anchor first, if there is one
        std::vector<double> multipliers;
        std::vector<double> weights;  // padded to Samples::stride()
        double bias = 0;
        double value = 0;
        Basis basis;
        int age = 0;        // updates of the basis since it was built
        bool exact = true;  // computed from the basis, not through a series of steps
    };

    explicit MaxMargin(const Samples& samples);

    const RowNumbers& rows() const { return rows_; }
    std::size_t flip_row(std::size_t sample) const { return rows_.flip(sample); }
    std::size_t extra_row(std::size_t index) const {
        assert(index < extra_rows_.size());
        return rows_.extra(index);
    }

    bool enabled(std::size_t row) const {
        assert(row < enabled_.size());
        return enabled_[row] != 0;
    }
    void enable(std::size_t row);
    // Also takes the row out of the solution, which stays a valid start.
    void disable(std::size_t row);
    // Disables all rows and forgets the solution.
    void clear();
    // Keeps the enabled rows and forgets the solution.
    void forget();
    // Replaces the extra rows; they start disabled, and the solution is forgotten.
    void set_extra_rows(std::vector<ExtraRow> rows);

    // Of the samples, only these may be enabled until clear(): violated ones are looked for among them, and after
    // the extra rows.
    void set_pool(std::span<const std::uint32_t> pool);
    // Minimises 1/2 ||w - origin||^2 instead, until clear(), and forgets the solution; value() is that then, and
    // there are no thresholds. Where only the certificate of an infeasible problem is wanted, which is the same
    // from everywhere, a point among the extra rows is a good one to start from. `origin` has Samples::stride()
    // entries.
    void set_origin(std::span<const double> origin);

    // `stop` is asked during long solves; when it says yes they end as failed.
    void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

    // Continues from the current solution. Stops as soon as the value is proven to reach `threshold`.
    MaxMarginStatus solve(double threshold = no_threshold);

    // 1/2 ||w||^2: the optimum after solve() returned optimal, else the value of the rows active in the
    // solution.
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

    // After threshold or infeasible: the rows of the proof, with multipliers, and the value that they
    // certify.
    std::span<const Multiplier> certificate() const { return certificate_; }
    double certificate_value() const { return certificate_value_; }
    // The value that the multipliers of the current solution certify; makes them the certificate.
    double certify_solution();

    // The shortest direction along which active row `index` loses its margin at unit rate while all other
    // active rows stay tight; `direction` has Samples::stride() entries.
    void release_direction(std::size_t index, double* direction, double& bias_direction);

    const Solution& solution() const { return solution_; }
    // Returns to an earlier solution; the rows active in it must be enabled.
    void restore(const Solution& solution) {
        solution_ = solution;
        assert(active_rows_are_enabled());
    }
    // The same, and of the samples' rows exactly these are enabled: keeping sample i if kept(i), its flip if
    // flipped(i).
    template <typename Kept, typename Flipped>
    void restore(const Solution& solution, const Kept& kept, const Flipped& flipped);

    // Multiply-adds spent, for budgets that do not depend on the clock.
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
    // Whether the enabled samples and flips are so few that looking at each of them beats a pass over all samples.
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
    // The normal of a row, reduced by the anchor's, into normal_.
    void load_reduced_normal(std::size_t row);

    // How the normal of a row outside the active set hangs together with the active ones: fills shares_ (one
    // an active row) and rest_, and returns the squared length of the rest, 0 if the normal lies in their
    // span.
    double relate(std::size_t row);
    // The same for the row that was related last, after erase().
    double relate_again(std::size_t row);
    double shares_and_length(std::size_t row);
    void append(std::size_t row, double multiplier, double squared_length);
    // Takes an active row out and leaves the multipliers of the others as they are.
    bool erase(std::size_t index);
    bool rebuild_basis();
    // Makes the solution exact for its active rows; false if they do not admit one with multipliers >= 0.
    bool refresh();
    // Whether the weights are the combination of the active normals and the active rows are tight, to working
    // precision; sets the value from the weights.
    bool consistent();
    void set_bias();

    void start();
    // For start(): the difference of the class means into normal_, and its products with the enabled samples into
    // margins_.
    void project_on_means();
    // The margins of the enabled samples and flips, or of all samples, into margins_, and the enabled sample that
    // misses its own by more than `violation`, which becomes what it is missed by; or none().
    std::size_t price_listed(double& violation);
    std::size_t price_all(double tolerance, double& violation);
    // The enabled row that is farthest from being satisfied, or none().
    std::size_t most_violated(double tolerance, double& violation);
    // A sample that is clearly violated, found in single precision, or none().
    std::size_t clearly_violated(double& violation);
    // Violations that single precision cannot have made up.
    static constexpr double clear_violation = 1e-2;
    // The enabled extra row that misses its bound by most and more than `violation`, which it sets, or none().
    std::size_t most_violated_extra_row(double& violation);
    // With a pool: such an extra row, or a clearly violated sample of the pool.
    std::size_t clearly_violated_in_pool(double tolerance, double& violation);
    // ||w - origin||^2.
    double squared_distance() const;
    void return_to_origin();
    // What a row asks for beyond the origin.
    double bound_from_origin(std::size_t row) const;
    std::size_t none() const { return rows_.extra(extra_rows_.size()); }
    double tolerance() const;
    EntryOutcome enter(std::size_t row, double violation, double threshold);
    // Lowers the multiplier of a row outside the active set to zero, which leaves a solution of the active
    // rows.
    bool withdraw(std::size_t row, double multiplier);
    void withdraw_or_forget(std::size_t row, double multiplier);
    // Set certificate_ from the solution, from a step of `row` along the direction last looked at, or from
    // that direction itself, and then certify what is left of it without its smallest multipliers.
    void certify();
    void certify_step(std::size_t row, double multiplier, double step);
    void certify_ray(std::size_t row);

    const Samples& samples_;
    RowNumbers rows_;
    std::vector<ExtraRow> extra_rows_;
    std::vector<unsigned char> enabled_;
    std::vector<std::uint32_t> listed_;  // the enabled samples, in any order
    std::vector<std::size_t> place_in_list_;
    std::vector<double> keep_offsets_;   // 0 for enabled samples, infinity for the others: pricing without branches
    std::vector<float> coarse_offsets_;  // the same in single precision
    std::vector<float> coarse_weights_;
    std::vector<float> coarse_scores_;
    bool coarse_ = false;  // far from the solution single precision finds violated rows well enough
    bool pooled_ = false;
    std::vector<std::uint32_t> pool_;
    std::vector<std::uint32_t> place_in_pool_;  // by samples
    std::vector<float> pool_values_;            // in tiles, as CoarseColumns
    std::vector<float> pool_labels_;
    std::vector<float> pool_scales_;
    std::vector<float> pool_offsets_;
    std::vector<double> origin_;  // empty: 0
    double origin_length_ = 0;
    std::array<std::size_t, 2> enabled_counts_{};  // of the negative and the positive samples
    std::vector<std::size_t> flips_;               // the enabled flips
    Solution solution_;
    mutable std::vector<double> margins_;
    mutable bool margins_are_complete_ = true;  // not only those of the enabled rows
    std::vector<double> normal_;
    std::vector<double> rest_;
    std::vector<double> projections_;
    double rest_squared_ = 0;
    bool split_is_current_ = false;  // normal_, projections_ and rest_ belong to the present basis
    std::vector<double> shares_;
    std::vector<Multiplier> certificate_;
    double certificate_value_ = 0;
    std::uint64_t work_ = 0;
    std::uint64_t work_at_stop_ = 0;
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
