// Branch and bound over hyperplane directions.
#pragma once

#include <vector>

#include "base/control.h"
#include "base/samples.h"
#include "directions/node.h"
#include "directions/tree.h"
#include "tree/search.h"

namespace hardmargin {

using DirectionOutcome = SearchOutcome<DirectionNode>;

// Searches the regions of `frontier` for solutions better than `upper`; an empty frontier means all directions. The
// regions of a frontier belong to the axes of the options they were made with.
DirectionOutcome direction_search(const Samples& samples, std::vector<DirectionNode> frontier, double upper,
                                  const DirectionOptions& options, const SearchLimits& limits, Control& control);

}  // namespace hardmargin
