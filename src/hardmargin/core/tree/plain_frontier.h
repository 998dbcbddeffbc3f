// Open subproblems as three arrays: what is written to files and sent to other machines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/samples.h"
#include "directions/node.h"
#include "packing/node.h"

namespace hardmargin {

// Subproblem k has the integers from ends[k - 1] (0 for the first) to ends[k] and an equal share of the numbers, of
// which the last two are its `bound` and its `upper`. Together they hold every solution that costs less than the
// smallest `upper`, whatever has been closed beside them.
struct PlainFrontier {
    std::vector<std::uint32_t> integers;
    std::vector<std::uint64_t> ends;
    std::vector<double> numbers;
};

struct PlainFrontierView {
    std::span<const std::uint32_t> integers;
    std::span<const std::uint64_t> ends;
    std::span<const double> numbers;
};

// Integers: how many samples are kept, those samples, and the ones given up.
PlainFrontier plain(const std::vector<PackingNode>& nodes);
// Integers: the face. Numbers: sign, low corner, high corner, least and greatest length of w.
PlainFrontier plain(const std::vector<DirectionNode>& nodes);

// The inverse; std::invalid_argument if the arrays are no subproblems of these samples.
void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<PackingNode>& nodes);
void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<DirectionNode>& nodes);

}  // namespace hardmargin
