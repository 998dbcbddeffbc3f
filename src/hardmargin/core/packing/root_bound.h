// A first lower bound for any problem: a packing of sets of samples that are expensive to keep whole.
//
// Let S_1, ..., S_p be sets with certified values v_j: keeping all of S_j costs at least v_j in the norm
// alone. Each carries a share d_j of cost such that no sample's shares add up to more than its cost; for
// disjoint sets and equal costs d_j = C. A hyperplane that keeps the sets in M whole gives up a sample of
// every other set, so it costs at least max_{j in M} v_j + sum_{j not in M} d_j. With the values in ascending
// order the cheapest M is a leading part of them, hence
//
//     optimum >= min( sum_j d_j,  min_i v_(i) + sum_{j > i} d_(j) ).
//
// Sets are found one after the other as supports of the max-margin problem over what cost is left, stopped as
// soon as its value passes what an improvement on the incumbent could still spend.
#pragma once

#include "base/control.h"
#include "base/samples.h"

namespace hardmargin {

// `upper` is the objective of a known hyperplane; it steers the search for sets, the bound holds without it.
// Sets worth more than `upper` (1 - `gap`) are of no use.
double root_bound(const Samples& samples, double upper, double gap, Control& control);

}  // namespace hardmargin
