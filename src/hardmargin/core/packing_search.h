// Branch and bound over the samples to give up: a queue of open subproblems, worked on in slices.
//
// The subproblem with the smallest bound comes first, so that the bound of all, the smallest one in the queue,
// rises while the search goes on. A slice searches below it depth first for a while and puts what is left open back
// into the queue. When the queue outgrows its memory, the newest subproblem comes first, which keeps it from
// growing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control.h"
#include "packing_node.h"
#include "packing_tree.h"
#include "primal_search.h"
#include "samples.h"

namespace hardmargin {

struct PackingLimits {
    std::size_t threads = 1;
    std::uint64_t node_limit = 0;     // 0: none
    std::uint64_t slice = 256;        // subproblems of one slice
    std::size_t memory = 4ull << 30;  // bytes of open subproblems before the search goes depth first
};

struct PackingOutcome {
    Incumbent best;          // no weights: nothing better than what it started with was found
    double lower_bound = 0;  // of the whole problem
    std::uint64_t nodes = 0;
    std::uint64_t work = 0;  // multiply-adds, about
    std::vector<PackingNode> open;
};

// Searches below the nodes of `frontier` (one node without decisions is the whole problem) for solutions better
// than `upper`.
PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const PackingLimits& limits, Control& control);

}  // namespace hardmargin
