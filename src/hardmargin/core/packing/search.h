// Branch and bound over the samples to give up.
#pragma once

#include <vector>

#include "base/control.h"
#include "base/samples.h"
#include "packing/node.h"
#include "packing/tree.h"
#include "tree/search.h"

namespace hardmargin {

using PackingOutcome = SearchOutcome<PackingNode>;

// Searches below the nodes of `frontier` (one node without decisions is the whole problem) for solutions better
// than `upper`.
PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const SearchLimits& limits, Control& control);

}  // namespace hardmargin
