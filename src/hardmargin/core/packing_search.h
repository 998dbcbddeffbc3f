// Branch and bound over the samples to give up.
#pragma once

#include <vector>

#include "control.h"
#include "packing_node.h"
#include "packing_tree.h"
#include "samples.h"
#include "tree_search.h"

namespace hardmargin {

using PackingOutcome = SearchOutcome<PackingNode>;

// Searches below the nodes of `frontier` (one node without decisions is the whole problem) for solutions better
// than `upper`.
PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const SearchLimits& limits, Control& control);

}  // namespace hardmargin
