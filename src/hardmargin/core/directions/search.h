// Branch and bound over hyperplane directions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/control.h"
#include "base/samples.h"
#include "directions/node.h"
#include "directions/tree.h"
#include "tree/search.h"

namespace hardmargin {

using DirectionOutcome = SearchOutcome<DirectionNode>;

// The root of a search: all directions, and all lengths that solutions better than `upper` can have.
std::vector<DirectionNode> direction_root(const Samples& samples, double upper, const DirectionOptions& options);

// How often each sample is copied so that all that cost less than `upper` cost the same, as copies of merged
// duplicates; empty if they are used as they are.
std::vector<std::size_t> direction_copies(std::span<const double> costs, double upper);

// Searches the regions of `frontier`, which must not be empty, for solutions better than `upper`. The axes in the
// options must be those with which the regions were made.
DirectionOutcome direction_search(const Samples& samples, std::vector<DirectionNode> frontier, double upper,
                                  const DirectionOptions& options, const SearchLimits& limits, Control& control);

}  // namespace hardmargin
