// Must-hit sets in a region of directions, in addition to a matching of its conflicting pairs.
//
// A matching of K conflicting pairs leaves many samples unmatched. Let S be some of them. If the max-margin problem
// over S and the region's sides has no solution whose norm term is below `upper` minus the cost of K samples, a
// better solution in the region gives up at least one sample of S; because S is disjoint from the pairs, that is
// one more. So p disjoint sets of this kind raise the bound to K + p samples. A solution that keeps all of the next
// set gives up K + p other samples, so its norm term only has to reach `upper` minus their cost.
//
// No better solution keeps all of S in any part of the region, nor for any smaller `upper`. So parts inherit the
// sets, except those with a sample that is matched in the part's larger matching.
//
// The samples in the certificate of an infeasible problem are a set. They are removed from the problem, and the
// solver continues from its current solution. Only certificates count, so the starting point and the pricing order
// are free. It starts at the middle of the region, where few of the sides matter, and prices the sides first,
// because sets of few samples leave more samples for the next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/objective.h"
#include "base/samples.h"
#include "directions/closure.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/node.h"
#include "directions/pair_conflicts.h"
#include "directions/trace.h"
#include "qp/max_margin.h"

namespace hardmargin {

struct RegionSets {
    std::vector<MustHitSet> sets;  // disjoint, and without matched samples
    // If `kept`: a hyperplane in the region that keeps the samples outside all pairs and sets.
    bool kept = false;
    std::vector<double> weights;
    double bias = 0;

    void clear() {
        sets.clear();
        kept = false;
    }
};

class RegionPacking {
public:
    using Level = PairConflicts::Level;
    using State = ConflictMatching::State;

    RegionPacking(const Samples& samples, const DirectionFrame& frame, const PairConflicts& pairs,
                  ConflictMatching& matching, MaxMargin& solver);

    // Writes down the sets; null if no proof is wanted.
    void set_trace(RegionTrace* trace) { trace_ = trace; }

    // Searches for sets until there are `wanted`; whether that many were found. `around` is what is known of an
    // enclosing region. May rearrange the matching without changing its size.
    bool find(const DirectionNode& region, const Level& level, State& state, std::size_t wanted,
              const Cutoff& cutoff, const RegionSets& around, RegionSets& found);

private:
    void inherit(const State& state, const RegionSets& around, RegionSets& found);
    // The samples outside all pairs and sets that have an undecided pair among themselves.
    void find_pool(const Level& level, const State& state);
    bool pool_is_kept(const DirectionNode& region, const RegionSets& around) const;
    bool pack(const DirectionNode& region, const State& state, std::size_t wanted, const Cutoff& cutoff,
              RegionSets& found);

    const Samples& samples_;
    const DirectionFrame& frame_;
    const PairConflicts& pairs_;
    ConflictMatching& matching_;
    MaxMargin& solver_;
    std::vector<unsigned char> in_set_;  // by samples
    std::vector<std::uint32_t> pool_;
    std::vector<unsigned char> in_pool_;  // by positives
    std::vector<std::uint64_t> left_negatives_;
    std::vector<std::uint64_t> pool_negatives_;
    std::vector<double> middle_;
    std::vector<double> margins_;
    RegionTrace* trace_ = nullptr;
};

}  // namespace hardmargin
