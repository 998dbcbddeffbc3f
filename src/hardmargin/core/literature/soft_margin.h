// The hinge-loss support vector machine, to optimality:
//
//     min 1/2 ||w||^2 + sum_i cost_i max(0, 1 - y_i (w.x_i + b))
//
// by a primal-dual interior point method with Mehrotra's corrector. A step costs O(samples * features^2); the
// number of steps hardly depends on the costs, even if they are large.
#pragma once

#include "base/control.h"
#include "base/hyperplane.h"
#include "base/samples.h"

namespace hardmargin {

// Stops when optimal up to `tolerance`, relative to the objective, or when `control` says so.
Hyperplane soft_margin(const Samples& samples, double tolerance, Control& control);

}  // namespace hardmargin
