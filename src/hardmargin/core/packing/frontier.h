// Open subproblems of the search over samples as plain arrays, and back.
#pragma once

#include <vector>

#include "base/samples.h"
#include "packing/node.h"
#include "tree/plain_frontier.h"

namespace hardmargin {

// Integers: how many samples are kept, those samples, and the ones given up. Numbers: bound and upper.
PlainFrontier plain(const std::vector<PackingNode>& nodes);

// The inverse; std::invalid_argument if the arrays are no subproblems of these samples.
void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<PackingNode>& nodes);

}  // namespace hardmargin
