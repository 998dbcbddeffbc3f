// A first lower bound for any problem: a packing of sets of samples that are expensive to keep whole.
//
// Let S_1, ..., S_p be sets with certified values v_j: keeping all of S_j costs at least v_j in the norm alone.
// Each has a share d_j of the cost, and the shares of a sample add up to at most its cost; for disjoint sets and
// equal costs d_j = C. A hyperplane that keeps exactly the sets in M whole gives up a sample of every other set, so
// it costs at least max_{j in M} v_j + sum_{j not in M} d_j. With the values in ascending order the cheapest M is a
// prefix, so
//
//     optimum >= min( sum_j d_j,  min_i v_(i) + sum_{j > i} d_(j) ).
//
// Sets are found one by one as supports of the max-margin problem over the samples with cost left. The solver stops
// as soon as its value passes what a solution better than the incumbent could spend on its norm. Bounds on the
// weights hold for every hyperplane, so they take part in the values and are no members of sets.
#pragma once

#include "base/control.h"
#include "base/samples.h"
#include "tree/proof_record.h"

namespace hardmargin {

// `record`, if given, becomes a proof of the bound (docs/proofs.md).
// `upper` is the objective of a known hyperplane. It guides the search for sets; the bound is valid for any value.
// Sets need not be worth more than `upper` (1 - `gap`).
double root_bound(const Samples& samples, double upper, double gap, Control& control,
                  ProofRecord* record = nullptr);

}  // namespace hardmargin
