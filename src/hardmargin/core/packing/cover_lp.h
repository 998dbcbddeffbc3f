// Fractional set cover over a changing collection of sets, solved through its dual, the fractional packing:
//
//     minimise   sum c_i z_i   subject to   sum over i in S of z_i >= 1   for every set S,   z >= 0
//     maximise   sum y_S       subject to   sum over S with i of y_S <= c_i   for every item i,   y >= 0
//
// by the simplex method on the packing, which is the dual simplex method on the cover. The packing stays feasible
// when sets are added, and when items are excluded (z_i = 0: their capacity becomes infinite). An item that must be
// used (z_i = 1) is one more set, {i}.
//
// A basis consists of equally many sets and items: those with y_S > 0 and those whose capacity is used up. Only the
// square matrix of their incidences is inverted; the inverse is dense and updated. Capacities are lowered by tiny
// random amounts, which breaks ties and keeps the packing feasible.
//
// The bound does not rely on any of this: packing_value() recomputes it from y alone.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "packing/set_sums.h"

namespace hardmargin {

class CoverLp {
public:
    enum class Status {
        optimal,
        no_cover,    // all items of some set are excluded
        enough,      // the packing is worth enough
        unfinished,  // out of steps or precision, or stopped; the packing is still feasible
    };

    struct SimplexBasis {
        std::vector<std::uint32_t> sets;
        std::vector<std::uint32_t> items;
    };

    // A basis for a warm start, with its inverse, so that it need not be inverted again. Without the inverse it
    // takes little memory.
    struct BasisSnapshot {
        SimplexBasis basis;
        std::vector<double> inverse;  // row by row, without gaps; may be left out
        std::size_t age = 0;          // steps since it was recomputed

        std::size_t memory() const { return inverse.size() * sizeof(double); }
    };

    explicit CoverLp(std::span<const double> costs);

    std::size_t item_count() const { return costs_.size(); }
    // Sets are numbered in order; the first item_count() of them are {0}, {1}, ...
    std::size_t set_count() const { return begins_.size() - 1; }
    std::span<const std::uint32_t> items(std::size_t set) const {
        assert(set < set_count());
        return {items_.data() + begins_[set], items_.data() + begins_[set + 1]};
    }
    std::uint32_t add(std::span<const std::uint32_t> items);
    // Removes all sets except those of one item, and the basis.
    void clear();

    // The sets that must be covered. Other sets that are in the basis must be valid too.
    void set_active(std::vector<std::uint32_t> sets) { active_ = std::move(sets); }
    void activate(std::uint32_t set) {
        assert(set < set_count());
        active_.push_back(set);
    }
    // Whether an item must not be used.
    void exclude(std::size_t item, bool excluded) {
        assert(item < item_count());
        excluded_[item] = excluded;
    }

    const SimplexBasis& basis() const { return basis_; }
    BasisSnapshot snapshot() const;
    // Warm starts from a basis that was reached with fewer sets or fewer excluded items.
    void load(const BasisSnapshot& snapshot);

    // Ends as soon as the packing is worth `enough`, up to rounding.
    Status solve(std::size_t step_limit, double enough = std::numeric_limits<double>::infinity());
    // Called often while solving; if it returns true, solve() ends as if out of steps.
    void set_stop(const std::function<bool()>& stop) { stop_ = stop; }

    // z, after solve().
    std::span<const double> values() const { return {values_.data(), item_count()}; }
    double slack_of(std::size_t set) const;
    // A valid lower bound on the cost of every cover, from the packing alone. A cover that uses an item costs at
    // least its entry of `reduced_costs` more.
    double packing_value(std::vector<double>& reduced_costs) const;
    // The packing itself, scaled so that it is feasible.
    struct WeightedSet {
        std::uint32_t set;
        double weight;
    };
    std::vector<WeightedSet> packing() const;

    std::uint64_t work() const { return work_; }
    // Bytes of the sets, and of the copies of some of them.
    std::size_t memory() const {
        return items_.size() * sizeof(items_[0]) + begins_.size() * sizeof(begins_[0]) + candidates_.memory() +
               nearly_tight_.memory();
    }

private:
    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

    struct Leaving {
        enum class Kind { none, set, item } kind = Kind::none;
        std::size_t place = 0;  // of the set in the basis, or the item
        double step = 0;
    };

    // The row of the inverse of an item of the basis, with one entry per set of the basis.
    double* row_of(std::size_t place) { return inverse_.data() + place * stride_; }
    const double* row_of(std::size_t place) const { return inverse_.data() + place * stride_; }
    // The factor by which the packing exceeds a capacity, at least 1, given the loads of the items.
    double excess_of(std::span<const double> loads) const;
    // The value of the packing, up to rounding.
    double worth() const;
    void start();
    void make_room(std::size_t size);
    bool invert();  // false if the matrix is singular, or if stopped
    // Computes y, the loads and z from the inverse; false if y is not feasible.
    bool recompute();
    void widen();

    bool least_covered_candidate(std::uint32_t& set, double& lack);
    void find_candidates();
    void note_lack(std::uint32_t set, double lack);
    void take_candidates();

    // The changes per unit of the entering variable: decreases_ and load_changes_.
    void find_direction_of_set(std::uint32_t set);
    void find_direction_of_item(std::size_t place, double sign);
    void find_load_changes();
    Leaving ratio_test();
    void find_blocking_items();
    void move(double step);
    void combine_columns_of(std::size_t item);
    // Adds sign * combined_[place] times these values, one per set of the basis, to the rows of the inverse.
    void change_rows(double sign, const double* values);
    void lower_values(double factor);

    // The four kinds of pivot. `lack` is by how much the entering set is not covered.
    void replace_set(std::size_t leaving, std::uint32_t set, double lack);
    void append(std::uint32_t set, std::uint32_t item, double lack);
    void remove(std::size_t set_place, std::size_t item_place);
    void replace_item(std::size_t leaving, std::uint32_t item);

    std::vector<double> costs_;
    double scale_ = 1;
    std::vector<double> capacities_;
    std::vector<std::size_t> begins_;
    std::vector<std::uint32_t> items_;
    std::vector<std::uint32_t> active_;
    SetSums candidates_;
    SetSums nearly_tight_;
    std::vector<std::uint32_t> listed_;    // what one of these two is about to get
    std::vector<std::uint32_t> blocking_;  // items that limit the step
    std::vector<std::pair<double, std::uint32_t>> lacks_;
    std::vector<unsigned char> excluded_;
    SimplexBasis basis_;
    std::vector<std::size_t> place_of_item_;  // in the basis, or nowhere
    std::size_t stride_ = 0;
    AlignedVector<double> inverse_;
    std::vector<double> packing_;       // y of the sets of the basis
    std::vector<double> loads_;         // of the items
    std::vector<double> values_;        // z of the items, and a zero
    std::vector<double> decreases_;     // of packing_, per unit of the step
    std::vector<double> load_changes_;  // of loads_, per unit of the step
    std::vector<double> combined_;      // one per item of the basis
    AlignedVector<double> row_change_;  // padded with zeros
    std::vector<double> scratch_;
    std::size_t age_ = 0;
    std::uint64_t work_ = 0;
    std::function<bool()> stop_ = [] { return false; };
};

}  // namespace hardmargin
