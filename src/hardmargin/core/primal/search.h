// Good hyperplanes without proof: many starts, then a local search over which samples to give up.
//
// A place of the search is a set of kept samples with its max-margin hyperplane. Starts (primal/search_starts.cpp)
// come from hinge-loss machines (plain, reweighted and ramp loss), from random directions with their best offset
// and scale, and from giving up one class. The walk (primal/search.cpp) moves from one max-margin hyperplane to the
// next. It releases one support sample, follows the line along which the others stay tight, takes the exact minimum
// over that line, and solves the max-margin problem for the samples kept there. Samples that cost less to keep than
// to give up are taken back. Worse places are sometimes accepted. After many rounds without success the walk
// returns to the best place, or sometimes restarts elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/control.h"
#include "base/hyperplane.h"
#include "base/random.h"
#include "base/samples.h"
#include "primal/hinge.h"
#include "primal/line_search.h"
#include "primal/offset_search.h"
#include "qp/max_margin.h"

namespace hardmargin {

class PrimalSearch {
public:
    PrimalSearch(const Samples& samples, std::uint64_t seed);
    PrimalSearch(const PrimalSearch&) = delete;
    PrimalSearch& operator=(const PrimalSearch&) = delete;

    struct Budget {
        std::uint64_t work;   // multiply-adds
        std::uint64_t tries;  // how often the walk may return or restart without improving the incumbent
        double target;        // the search ends at this objective
        double lower_bound;   // only reported to the observer
    };

    // The starts, within the budget and until `control` stops them.
    void start(Control& control, const Budget& budget);
    // The walk from the best place, likewise.
    void walk(Control& control, const Budget& budget);
    // Improves a given hyperplane, likewise.
    void offer(Control& control, const Budget& budget, const Hyperplane& hyperplane);

    const Incumbent& best() const { return best_; }
    std::uint64_t rounds() const { return rounds_; }
    std::uint64_t work() const { return work_ + solver_.work() + hinge_.work() + offset_search_.work(); }

private:
    struct Place {
        std::vector<unsigned char> kept;
        MaxMargin::Solution solution;
        double objective = 0;
    };

    // A line through the current hyperplane and a range of steps.
    struct Route {
        double bias_direction;  // the direction itself is in direction_
        double from;
        double to;
    };

    // The result of an attempt to move to another place.
    enum class Move {
        none,   // the solver is unchanged
        moved,  // the solver is at another place
        lost    // failed because of rounding; the solver must return to a known place
    };

    void set_budget(Control& control, const Budget& budget);
    bool out_of_budget();

    // Gives up the cheaper class, which needs no search.
    void start_flat();

    // Starts.
    // The best offset and scale along a hyperplane's direction; becomes the incumbent if it is better.
    void screen(const Hyperplane& hyperplane);
    void descend_from_screened();
    void start_from_all_samples();
    void start_from_classes();
    void start_from_hinge_losses();
    void start_from_reweighted_losses();
    void start_from_ramp_loss(bool subsample);
    void start_from_random_direction();
    void start_anew();
    void set_limits(double factor, std::span<const double> shares);
    // Keeps the samples whose margin is at least `margin`, and descends.
    void descend_from(const Hyperplane& hyperplane, double margin);

    // The walk.
    Move make_move(double acceptable);
    // Whether a sample is tight, and the place of a random one among the active rows.
    bool is_supported() const;
    std::optional<std::size_t> random_support();
    Route release_route();
    Route turn_route();
    Move follow(const Route& route, double acceptable);
    Move let_go();
    void take_back();
    bool take_some_back();
    // Gives up samples until the norm that the others need costs less than the incumbent; false on failure.
    bool make_affordable();
    bool keep_only_marked();

    double objective_here() const;
    // Makes the solver's hyperplane, or a given one, the incumbent if it is better.
    void note();
    void offer_as_best(const Hyperplane& hyperplane);
    bool become_best(std::span<const double> weights, double bias);
    void save(Place& place) const;
    void go_to(const Place& place);

    const Samples& samples_;
    MaxMargin solver_;
    HingeLoss hinge_;
    LineSearch line_search_;
    OffsetSearch offset_search_;
    Random random_;
    Incumbent best_;
    Place best_place_;
    double typical_cost_ = 0;
    double hinge_unit_ = 0;  // hinge-loss limits are multiples of this times the cost
    std::vector<unsigned char> marked_;
    std::vector<double> margins_;
    std::vector<double> slopes_;
    std::vector<double> direction_;
    std::vector<double> limits_;
    std::vector<OffsetSearch::Optimum> screened_;
    std::vector<std::size_t> given_up_;
    Control* control_ = nullptr;
    std::function<bool()> stop_;  // out_of_budget()
    Budget budget_{};
    std::uint64_t work_ = 0;
    std::uint64_t rounds_ = 0;
};

}  // namespace hardmargin
