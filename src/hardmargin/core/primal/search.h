// Good hyperplanes without proof: many starts, then a local search over which samples to give up.
//
// A place of the search is a set of kept samples with its max-margin hyperplane. Starts (primal/search_starts.cpp)
// come from hinge-loss machines, plain, reweighted and ramp-loss, from random directions with their best
// offset and scale, and from giving one class up. The walk (primal/search.cpp) goes from max-margin
// hyperplane to max-margin hyperplane: it lets go of one support sample, follows the line along which the
// other ones stay tight, takes the best point of that line exactly, however many samples change sides on the
// way, and solves the max-margin problem for the samples kept there. Samples that can be kept for less than
// their cost are taken back in. Worse places are accepted now and then; after long without success the walk
// returns to the best place, and in turn starts anew elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
        std::uint64_t tries;  // times the walk may return to its best place, or start anew, without a better one
        double target;        // the search is over at this objective
        double lower_bound;   // only passed on to whoever watches
    };

    // The starts, within the budget and until `control` says stop.
    void start(Control& control, const Budget& budget);
    // The walk, likewise; needs a place to start from.
    void walk(Control& control, const Budget& budget);
    // Takes up a hyperplane from elsewhere, likewise.
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

    // A line through the current hyperplane and the range of steps that are of interest.
    struct Route {
        double bias_direction;  // the direction itself is in direction_
        double from;
        double to;
    };

    // What became of an attempt to go to another place.
    enum class Move {
        none,   // the solver has not changed
        moved,  // the solver is at another place
        lost    // rounding got in the way; the solver must be brought back to a known place
    };

    void set_budget(Control& control, const Budget& budget);
    bool out_of_budget();

    // Gives the cheaper class up, which needs no search.
    void start_flat();

    // Starts.
    // Takes a hyperplane's direction with its best offset and scale; becomes the incumbent if it is better.
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
    Route release_route();
    Route turn_route();
    Move follow(const Route& route, double acceptable);
    Move let_go();
    void take_back();
    bool take_some_back();
    // Gives samples up until the max-margin problem of the others costs less than the incumbent; false on
    // failure.
    bool make_affordable();
    bool keep_only_marked();

    double objective_here() const;
    // Makes the solver's hyperplane, or another one, the incumbent if it is better.
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
