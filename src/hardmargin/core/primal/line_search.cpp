#include "primal/line_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/hyperplane.h"

namespace hardmargin {

namespace {

// Margins with a smaller slope are constant: the line keeps these samples tight.
constexpr double still_tolerance = 1e-12;

}  // namespace

LineMinimum LineSearch::minimise(const Line& line, double from, double to, double limit) {
    assert(line.margins.size() >= costs_.size() && line.slopes.size() >= costs_.size());
    LineMinimum best{0, std::numeric_limits<double>::infinity()};
    // The steps that keep the norm term below the limit.
    if (line.direction_squared > 0) {
        const double centre = -line.product / line.direction_squared;
        const double room = 2 * limit - line.norm_squared + line.product * line.product / line.direction_squared;
        if (room <= 0) {
            return best;
        }
        const double radius = std::sqrt(room / line.direction_squared);
        from = std::max(from, centre - radius);
        to = std::min(to, centre + radius);
    }
    if (!(from < to)) {
        return best;
    }
    double violation_cost = 0;  // just above `from`
    events_.clear();
    for (std::size_t i = 0; i < costs_.size(); ++i) {
        const double slope = line.slopes[i];
        const double margin = line.margins[i];
        if (std::abs(slope) <= still_tolerance) {
            violation_cost += margin >= kept_margin ? 0.0 : costs_[i];
            continue;
        }
        const double step = (1 - margin) / slope;
        const bool kept_at_start = slope > 0 ? step <= from : step > from;
        violation_cost += kept_at_start ? 0.0 : costs_[i];
        if (step > from && step < to) {
            events_.push_back({step, slope > 0 ? -costs_[i] : costs_[i]});
        }
    }
    // At equal steps, samples that become kept come before those that stop being kept: both are kept there.
    std::sort(events_.begin(), events_.end(), [](const Event& left, const Event& right) {
        return left.step < right.step || (left.step == right.step && left.change < right.change);
    });
    const double lowest = line.direction_squared > 0 ? -line.product / line.direction_squared
                                                     : std::numeric_limits<double>::quiet_NaN();
    double start = from;
    for (std::size_t k = 0; k <= events_.size(); ++k) {
        const double end = k < events_.size() ? events_[k].step : to;
        if (violation_cost < best.objective) {
            const double step = std::isnan(lowest) ? start : std::clamp(lowest, start, end);
            const double objective =
                0.5 * (line.norm_squared + step * (2 * line.product + step * line.direction_squared)) +
                violation_cost;
            if (objective < best.objective) {
                best = {step, objective};
            }
        }
        if (k < events_.size()) {
            violation_cost += events_[k].change;
            start = end;
        }
    }
    return best;
}

}  // namespace hardmargin
