// Sets of samples that no better solution in a region of directions keeps all of, beside a matching of its pairs.
//
// A matching of K conflicting pairs leaves many samples over. If the max-margin problem over some of those, S, and
// the region's own rows has no solution that is shorter than what K samples leave of `upper`, a better solution in
// the region gives up at least one of S; and as S has nothing in common with the pairs, that is one more. So p such
// sets without a common sample raise the bound to K + p samples: one that keeps all of the next set gives up K + p
// others, and is too long for what these leave.
//
// That no better solution keeps all of S is true in every part of the region, and for every better `upper`. So
// parts inherit the sets, but for those in which the parts' larger matchings have a sample.
//
// The samples of an infeasible problem's certificate are a set; taken out of the problem, the solver goes on from
// where it is. Only certificates count: where the search for them starts, and what it looks at first, does not
// matter. It starts from the middle of the region, because there few of its rows matter, and looks at the region's
// rows first, because sets of few samples leave more for the next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/samples.h"
#include "directions/closure.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/node.h"
#include "directions/pair_conflicts.h"
#include "qp/max_margin.h"

namespace hardmargin {

struct RegionSets {
    std::vector<MustHitSet> sets;  // without a common sample, and without a matched one
    // A hyperplane in the region that keeps the samples of no pair and no set, if one is known.
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

    // Looks for sets until there are `wanted`, and returns whether that many were found. `around` is what is known
    // of a region around. May rearrange the matching, which keeps its size.
    bool find(const DirectionNode& region, const Level& level, State& state, std::size_t wanted, double upper,
              const RegionSets& around, RegionSets& found);

private:
    void inherit(const State& state, const RegionSets& around, RegionSets& found);
    // Samples of no pair and no set that are undecided with another one of them.
    void find_pool(const Level& level, const State& state);
    bool pool_is_kept(const DirectionNode& region, const RegionSets& around) const;
    bool pack(const DirectionNode& region, const State& state, std::size_t wanted, double upper, RegionSets& found);

    const Samples& samples_;
    const DirectionFrame& frame_;
    const PairConflicts& pairs_;
    ConflictMatching& matching_;
    MaxMargin& solver_;
    std::vector<unsigned char> in_set_;  // by samples
    std::vector<std::uint32_t> pool_;
    std::vector<std::uint64_t> left_negatives_;
    std::vector<std::uint64_t> pool_negatives_;
    std::vector<double> middle_;
    std::vector<double> margins_;
};

}  // namespace hardmargin
