// Open subproblems of the search over samples as plain arrays, and back.
#pragma once

#include <vector>

#include "base/samples.h"
#include "packing/node.h"
#include "tree/plain_frontier.h"

namespace hardmargin {

// Integers: the number of kept samples, the kept samples, the given-up samples. Numbers: bound and upper.
PlainFrontier plain(const std::vector<PackingNode>& nodes);

// The inverse. Throws std::invalid_argument if the arrays are not subproblems of these samples.
void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<PackingNode>& nodes);

}  // namespace hardmargin
