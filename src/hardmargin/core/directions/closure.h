// What follows for single samples from a cover of the conflicting pairs: which ones a better solution keeps or
// gives up.
//
// A cover gives up at least one sample of every conflicting pair. Its least cost is a lower bound on what a
// solution gives up. By Koenig's theorem it equals a maximum matching of the conflict graph if all samples cost the
// same (directions/matching.h), and a maximum flow, with the costs as capacities, if they do not
// (directions/flow.h). Both grow with the graph, so a region starts with what the region around it had. The
// searches over regions are templates over these two; their parameter is called `PairCover`. It has nothing to do
// with the cover bound of packing/, which covers sets.
//
// If a solution may cost at most `slack` more than that, some samples are decided: a sample whose cost exceeds what
// is matched of it by more than the slack is kept; opponents of kept samples are given up; and of two samples that
// are matched for more than the slack, one is kept if the other one is given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hardmargin {

// Samples by what is known of them: positives and negatives as numbered in PairConflicts.
struct ConflictClosure {
    std::vector<unsigned char> positive_kept;
    std::vector<unsigned char> negative_kept;
    std::vector<unsigned char> positive_given_up;
    std::vector<unsigned char> negative_given_up;
    bool any_kept = false;
    bool impossible = false;  // there is no such solution

    void clear(std::size_t positives, std::size_t negatives);
    // Whether a sample would have to be both, or anything else says that there is no such solution.
    bool contradictory() const;
};

// Samples of which every better solution gives up at least one.
using MustHitSet = std::vector<std::uint32_t>;

}  // namespace hardmargin
