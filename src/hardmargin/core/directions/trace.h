// Writes down why a region of directions, and all of its parts, are closed (docs/proofs.md).
//
// A trace mirrors what a reader of the record knows about the regions on the path to the current one: the cover of
// conflicting pairs. A part starts with the cover of the region around it, so only changes are written, and the
// reader only has to examine pairs that are new. That a pair conflicts may have been found in a region around the
// current one, and be visible only there; then the record says where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/samples.h"
#include "directions/closure.h"
#include "directions/flow.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/node.h"
#include "directions/pair_conflicts.h"
#include "packing/trace.h"
#include "qp/certificate.h"
#include "qp/max_margin.h"
#include "tree/proof_record.h"

namespace hardmargin {

class RegionTrace {
public:
    RegionTrace(const Samples& samples, const DirectionFrame& frame, const PairConflicts& pairs);

    // See PackingTrace.
    void expect(double most) { certificates_.expect(most); }
    // Starts the record of a region.
    void begin(const DirectionNode& node);
    const ProofRecord& record() const { return record_; }
    // False if a step could not be justified: then the record is of no use.
    bool valid() const { return valid_; }
    // Forgets what was written since the record had this size.
    void shorten(std::size_t size) { record_.shorten(size); }

    // The region at this depth is examined; it is a part of the one at the depth before.
    void enter(std::size_t depth, const DirectionNode& region);
    // The cover as it is now. The reader concludes which lengths are left.
    template <typename State>
    void cover(const DirectionNode& region, const State& state) {
        list(state);
        write_cover(region);
    }
    // The norm that certain samples (base/samples.h) need in the region.
    void norm(std::span<const Multiplier> certificate);
    // A must-hit set in addition to the cover.
    void set(std::span<const Multiplier> certificate);
    // Two parts follow: the one with the lower or the higher half of a coordinate, or the longer lengths, first.
    void split(std::size_t coordinate, bool low_first);
    void split_lengths(double middle);
    // This part is the open region with this number.
    void open(std::uint64_t number, const DirectionNode& region);

    // The region is closed: the cover and the lengths cost too much.
    void close() { record_.step(ProofStep::close_region); }
    // The same, by what follows for solutions that cost hardly more than the cover: a contradiction, or a
    // certificate. `kept` are samples that are known to be kept.
    void close_exactly(const ConflictClosure& closure, std::span<const MustHitSet> sets,
                       std::span<const std::size_t> kept, std::span<const Multiplier> certificate);
    // The same by cases: which sample of a set is given up, those before it being kept. For every case the cover
    // follows, rearranged for it, and close_exactly().
    void begin_cases(std::span<const Multiplier> certificate);
    void begin_case(const DirectionNode& region, const ConflictMatching::State& state, std::size_t given_up);
    void end_cases() { record_.step(ProofStep::end_cases); }
    // The same by a search over samples.
    void close_by_samples(const ProofRecord& record);

private:
    using Edge = PairEdge;

    // Puts the pairs of a cover, sorted, into edges_.
    void list(const ConflictMatching::State& state);
    void list(const ConflictFlow::State& state) { edges_ = state.edges; }
    // Writes edges_ as changes of what is known.
    void write_cover(const DirectionNode& region);
    void write_changes();
    void write_pair(std::size_t positive, std::size_t negative);
    bool conflicts(const DirectionNode& region, std::size_t positive, std::size_t negative) const;
    void write(double value);
    void write(std::span<const Multiplier> certificate);

    void deduce_kept(std::size_t sample);
    void deduce_given_up(std::size_t sample);

    const Samples& samples_;
    const DirectionFrame& frame_;
    const PairConflicts& pairs_;
    PackingTrace certificates_;  // writes these
    bool equal_costs_;
    ProofRecord record_;
    bool valid_ = true;
    std::size_t depth_ = 0;
    // By depth; the first entry is what encloses the root.
    std::vector<std::vector<Edge>> known_;
    std::vector<DirectionNode> regions_;
    // Storage that is reused.
    std::vector<Edge> edges_;
    std::vector<Edge> gone_;
    std::vector<Edge> added_;
    // The deductions of close_exactly().
    const ConflictClosure* closure_ = nullptr;
    std::vector<unsigned char> is_deduced_;  // by samples
    std::vector<std::pair<std::size_t, std::size_t>> deductions_;
};

}  // namespace hardmargin
