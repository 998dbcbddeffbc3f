// Exact minimisation of the objective along a line (w, b) + step (dw, db).
//
// Sample i is kept for the steps on one side of (1 - margin_i) / slope_i. Between two such events the set of kept
// samples does not change, and the objective is a parabola in the step. Visiting the sorted events covers every
// parabola, so the minimum over the line is exact no matter how many samples change sides.
#pragma once

#include <span>
#include <vector>

namespace hardmargin {

struct Line {
    std::span<const double> margins;  // y_i (w.x_i + b)
    std::span<const double> slopes;   // y_i (dw.x_i + db)
    double norm_squared;              // ||w||^2
    double product;                   // w . dw
    double direction_squared;         // ||dw||^2
};

struct LineMinimum {
    double step = 0;
    double objective = 0;  // infinity if no step in the range stays below the limit
};

class LineSearch {
public:
    // One cost per sample; the array must outlive the search.
    explicit LineSearch(std::span<const double> costs) : costs_(costs) {}

    // The minimum over the steps in [from, to] with 1/2 ||w + step dw||^2 below `limit`. Objectives above the limit
    // do not matter to the caller.
    LineMinimum minimise(const Line& line, double from, double to, double limit);

private:
    struct Event {
        double step;
        double change;  // of the violation cost when the step passes upwards
    };

    std::span<const double> costs_;
    std::vector<Event> events_;
};

}  // namespace hardmargin
