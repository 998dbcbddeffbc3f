// Open subproblems of the search over directions as plain arrays, and back.
#pragma once

#include <vector>

#include "base/samples.h"
#include "directions/node.h"
#include "tree/plain_frontier.h"

namespace hardmargin {

// Integers: the face. Numbers: sign, low corner, high corner, least and greatest length of w, bound and upper.
PlainFrontier plain(const std::vector<DirectionNode>& nodes);

// The inverse. Throws std::invalid_argument if the arrays are not subproblems of these samples.
void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<DirectionNode>& nodes);

}  // namespace hardmargin
