// Limits on the cost of the samples that are given up, which take the place of their price in the objective.
//
// A class is *limited* if its own limit or the total is finite; otherwise it is *priced*. A solution is a
// hyperplane whose given-up samples stay within the limits, and its objective is 1/2 ||w||^2 plus the cost of the
// given-up samples of priced classes. Without limits this is the usual problem.
//
// Let f be the objective of a solution, and P and B the costs that it gives up of priced and of limited classes.
// Then f = 1/2 ||w||^2 + P, and B <= credit, the most that can be given up of limited classes. So if K <= P + B is
// a lower bound on the cost of all given-up samples,
//
//     1/2 ||w||^2 = f - P = f + B - (P + B) <= f + credit - K.
//
// The search over samples therefore uses all its bounds on costs, as if every class were priced and the incumbent
// cost more by the credit. If all classes are limited, P = 0, and it also closes subproblems with K > credit.
#pragma once

#include <algorithm>
#include <limits>

#include "base/hyperplane.h"
#include "base/samples.h"
#include "qp/max_margin.h"

namespace hardmargin {

struct Budget {
    static constexpr double unlimited = std::numeric_limits<double>::infinity();

    // The largest cost of the samples that may be given up: of a class, and of both together.
    double negatives = unlimited;
    double positives = unlimited;
    double total = unlimited;

    double of_class(bool positive) const { return positive ? positives : negatives; }
    bool limits(bool positive) const { return std::min(total, of_class(positive)) < unlimited; }
    bool limits_all() const { return limits(false) && limits(true); }
    bool limits_any() const { return limits(false) || limits(true); }
    // The most that can be given up of limited classes; 0 if there are none.
    double credit() const {
        const double sum = (limits(false) ? negatives : 0.0) + (limits(true) ? positives : 0.0);
        return std::min(total, sum);
    }
};

// A solver's hyperplane and its objective, which is infinite if it gives up more than the budget allows.
Incumbent evaluate(const Samples& samples, const Budget& budget, const MaxMargin& solver);

}  // namespace hardmargin
