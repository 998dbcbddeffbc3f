// Closes regions of directions in which the cover of the conflicting pairs costs nearly enough.
//
// The slack is what a solution better than `upper` may cost beyond the cover and the norm. If it is small, most
// samples are decided (ConflictClosure): a better solution keeps the kept ones and has the given-up ones at or
// inside their margins. If the max-margin problem over them and the region's sides costs more than `upper` minus
// the cover, there is no better solution; otherwise its solution is a candidate.
//
// If all samples cost the same, two things help with a larger slack. Must-hit sets among the unmatched samples
// (directions/region_packing.h) count like pairs. And if two samples more than there are pairs and sets are missing
// to close the region, nothing is decided, but cases can be distinguished. Take a set of samples that cannot be
// kept together below `upper`. A better solution gives up its first sample, or its second but not its first, and so
// on. In each case only one sample is missing, and most of the others are decided.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/objective.h"
#include "base/samples.h"
#include "directions/closure.h"
#include "directions/flow.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/node.h"
#include "directions/pair_conflicts.h"
#include "directions/region_packing.h"
#include "directions/trace.h"
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

    // Writes down why regions are closed; null if no proof is wanted.
    void set_trace(RegionTrace* trace) {
        trace_ = trace;
        if constexpr (PairCover::equal_costs) {
            packing_.set_trace(trace);
        }
    }

    // Whether it can prove that no solution in the region is better than `upper`; `norm` is the least norm term of
    // the region, which is raised to what the certain samples and the bounds on the weights need there. With
    // `packing` it searches for must-hit sets, and may rearrange the cover without changing its cost.
    bool closes(const DirectionNode& region, const Level& level, State& state, double& norm, const Cutoff& cutoff,
                bool packing, const RegionSets& around, RegionSets& found);

private:
    // If costs differ, there are no sets.
    struct NoPacking {
        NoPacking(const Samples&, const DirectionFrame&, const PairConflicts&, PairCover&, MaxMargin&) {}
    };
    using Packing = std::conditional_t<PairCover::equal_costs, RegionPacking, NoPacking>;

    // If `missing` is 1 or 2: that many samples more than there are pairs and sets would close the region.
    bool closes_if_short(std::size_t missing, const DirectionNode& region, const Level& level, const State& state,
                         std::span<const MustHitSet> sets, const Cutoff& cutoff)
        requires(PairCover::equal_costs);
    bool closes_with_one(const DirectionNode& region, const Level& level, const State& state,
                         std::span<const MustHitSet> sets, const Cutoff& cutoff)
        requires(PairCover::equal_costs);
    bool closes_with_two(const DirectionNode& region, const Level& level, const State& state,
                         std::span<const MustHitSet> sets, const Cutoff& cutoff)
        requires(PairCover::equal_costs);
    // Whether keeping the certain samples within the bounds on the weights costs at least `value` in the region, or
    // is impossible; raises `norm` to what it costs.
    bool certain_cost_at_least(double value, const DirectionNode& region, double& norm);
    void enable_region(const DirectionNode& region);
    void enable_closure();
    template <typename RowOf>
    void enable_changes(const std::vector<unsigned char>& wanted, std::vector<unsigned char>& enabled,
                        const RowOf& row_of);
    // Whether 1/2 ||w||^2 is at least `value` for every w that satisfies the enabled rows; if not, the shortest one
    // is a candidate.
    bool cost_at_least(double value);
    // The samples of the last proof, by descending multipliers.
    void find_supports();

    const Samples& samples_;
    const DirectionFrame& frame_;
    const PairConflicts& pairs_;
    PairCover& cover_;
    MaxMargin& solver_;
    Candidate candidate_;
    Packing packing_;
    ConflictClosure closure_;
    SampleDecisions enabled_;  // what enable_closure() has enabled since enable_region()
    State released_;
    std::vector<std::size_t> certain_;
    std::vector<Multiplier> multipliers_;
    std::vector<std::size_t> supports_;
    RegionTrace* trace_ = nullptr;
};

extern template class RegionClosing<ConflictMatching>;
extern template class RegionClosing<ConflictFlow>;

}  // namespace hardmargin
