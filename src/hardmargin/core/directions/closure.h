// What a cover of the conflicting pairs implies for single samples: which ones a better solution keeps or gives up.
//
// A cover gives up at least one sample of every conflicting pair. Its least cost is a lower bound on the cost of
// the samples that a solution gives up. By Koenig's theorem it equals a maximum matching of the conflict graph if
// all samples cost the same (directions/matching.h), and otherwise a maximum flow with the costs as capacities
// (directions/flow.h). Both grow with the graph, so a region starts with the result of the enclosing region. The
// searches over regions are templates over these two; their parameter is called `PairCover`. It is unrelated to the
// cover bound of packing/, which covers sets.
//
// If a solution may cost at most `slack` more than the cover, some samples are decided. A sample is kept if its
// cost exceeds the matched part of it by more than the slack. Opponents of kept samples are given up. And if two
// samples are matched for more than the slack and one is given up, the other one is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hardmargin {

// Which samples are kept and given up; positives and negatives are numbered as in PairConflicts.
struct SampleDecisions {
    std::vector<unsigned char> positive_kept;
    std::vector<unsigned char> negative_kept;
    std::vector<unsigned char> positive_given_up;
    std::vector<unsigned char> negative_given_up;

    void clear(std::size_t positives, std::size_t negatives);
};

struct ConflictClosure : SampleDecisions {
    // By samples, for proofs: a sample is kept because this one is given up, or given up because this one is kept;
    // -1 if it needs no such reason. Reasons come before what follows from them.
    std::vector<std::int32_t> kept_because;
    std::vector<std::int32_t> given_up_because;
    bool any_kept = false;
    bool impossible = false;  // there is no such solution

    void clear(std::size_t positives, std::size_t negatives);
    // Whether there is no such solution, for example because a sample would have to be both.
    bool contradictory() const;
};

// A pair of the cover, by the numbers of its samples, and how much of their cost it counts.
struct PairEdge {
    std::uint32_t positive;
    std::uint32_t negative;
    double flow;
};

// Samples of which every better solution gives up at least one.
using MustHitSet = std::vector<std::uint32_t>;

}  // namespace hardmargin
