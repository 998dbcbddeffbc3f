// Closes regions of directions in which a cover of the conflicting pairs costs nearly enough.
//
// A solution that is better than `upper` costs less than that beyond the cover: its slack. If the slack is small,
// most samples are decided (ConflictClosure): a better solution keeps the kept ones and leaves the given-up ones
// inside their margins. If the max-margin problem over them and the region's own rows costs more than what the
// cover leaves of `upper`, there is none; its solution is a candidate otherwise.
//
// If all samples cost the same, two things help where the slack is larger. Must-hit sets among the samples that the
// matching leaves over (directions/region_packing.h) count like its pairs. And if it takes two samples more than
// there are pairs and sets to close the region, nothing is decided, but there are two cases. Either a better
// solution keeps all samples of a set that is too long by itself; then it is not better. Or it gives up the first
// sample of the set, or the second but not the first, and so on; with that one given up, one sample is missing, and
// most of the others are decided.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/samples.h"
#include "directions/closure.h"
#include "directions/flow.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/node.h"
#include "directions/pair_conflicts.h"
#include "directions/region_packing.h"
#include "qp/max_margin.h"

namespace hardmargin {

template <typename PairCover>
class RegionClosing {
public:
    using Level = PairConflicts::Level;
    using State = typename PairCover::State;
    // Called with a solver whose solution satisfies its rows.
    using Candidate = std::function<void(const MaxMargin&)>;

    RegionClosing(const Samples& samples, const DirectionFrame& frame, const PairConflicts& pairs, PairCover& cover,
                  MaxMargin& solver, Candidate candidate);

    // Whether no solution in the region is better than `upper`, as far as can be told; `norm` is what the shortest
    // one costs. Looks for must-hit sets if `packing` says so; may rearrange the cover then, which keeps its cost.
    bool closes(const DirectionNode& region, const Level& level, State& state, double norm, double upper,
                bool packing, const RegionSets& around, RegionSets& found);

private:
    // There are no sets if costs differ.
    struct NoPacking {
        NoPacking(const Samples&, const DirectionFrame&, const PairConflicts&, PairCover&, MaxMargin&) {}
    };
    using Packing = std::conditional_t<PairCover::equal_costs, RegionPacking, NoPacking>;

    // Where so many samples more than there are pairs and sets close the region.
    bool closes_if_short(std::size_t missing, const DirectionNode& region, const Level& level, const State& state,
                         std::span<const MustHitSet> sets, double upper)
        requires(PairCover::equal_costs);
    bool closes_with_one(const DirectionNode& region, const Level& level, const State& state,
                         std::span<const MustHitSet> sets, double upper)
        requires(PairCover::equal_costs);
    bool closes_with_two(const DirectionNode& region, const Level& level, const State& state,
                         std::span<const MustHitSet> sets, double upper)
        requires(PairCover::equal_costs);
    void enable_region(const DirectionNode& region);
    void enable_closure();
    // Whether 1/2 ||w||^2 is at least that for all that satisfy the enabled rows; if not, the shortest is a
    // candidate.
    bool cost_at_least(double value);
    // The samples of the proof that the last one was, the most important first.
    void find_supports();

    const Samples& samples_;
    const DirectionFrame& frame_;
    const PairConflicts& pairs_;
    PairCover& cover_;
    MaxMargin& solver_;
    Candidate candidate_;
    Packing packing_;
    ConflictClosure closure_;
    State released_;
    std::vector<Multiplier> multipliers_;
    std::vector<std::size_t> supports_;
};

extern template class RegionClosing<ConflictMatching>;
extern template class RegionClosing<ConflictFlow>;

}  // namespace hardmargin
