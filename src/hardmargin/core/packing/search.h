// Branch and bound over the samples to give up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/control.h"
#include "base/samples.h"
#include "packing/node.h"
#include "packing/tree.h"
#include "tree/search.h"

namespace hardmargin {

using PackingOutcome = SearchOutcome<PackingNode>;

// The root of a search over `count` samples: the whole problem, or the part of it with these decisions. No solution
// in it costs less than the minimum of `bound` and `upper`; see PackingNode. Throws std::invalid_argument if a
// sample does not exist or is decided twice.
std::vector<PackingNode> packing_root(std::size_t count, std::vector<std::uint32_t> kept,
                                      std::vector<std::uint32_t> given_up, double bound, double upper);

// Searches below the nodes of `frontier`, which must not be empty, for solutions better than `upper`.
PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const SearchLimits& limits, Control& control);

}  // namespace hardmargin
