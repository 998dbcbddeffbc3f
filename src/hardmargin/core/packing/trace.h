// Writes down why a subproblem of the search over samples, and all of its parts, are closed (docs/proofs.md).
//
// A trace mirrors what a reader of the record knows: the must-hit sets by number, in the order in which they were
// certified, and which of them are packed. The reader derives costs and rooms from these. So before a certificate
// that needs the present room, the packing is written as it is now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/samples.h"
#include "packing/node.h"
#include "qp/certificate.h"
#include "tree/proof_record.h"

namespace hardmargin {

class PackingTrace {
public:
    // The number of a set in the record.
    using SetNumber = std::uint32_t;

    struct Packed {
        SetNumber set;
        double share;

        bool operator==(const Packed&) const = default;
    };

    // What the reader knows before a branch.
    struct Mark {
        SetNumber sets = 0;
        std::vector<Packed> packed;
    };

    explicit PackingTrace(const Samples& samples);

    // What the next records prove at most. Weights are then exact enough for that, even if single samples cost far
    // more.
    void expect(double most);
    // Starts the record of a subproblem, with its number and decisions.
    void begin(const PackingNode& node);
    const ProofRecord& record() const { return record_; }

    // What is packed now.
    void pack(std::span<const Packed> packed);
    // A new must-hit set; returns its number.
    SetNumber add(std::span<const Multiplier> certificate);
    // The same for a set of a pool, unless it is in the record already.
    SetNumber add(std::size_t pool_index, std::span<const Multiplier> certificate);

    // The only free sample of a set is given up.
    void unit(SetNumber set);
    // No sample of the set is free, or the cost alone is too large.
    void close(SetNumber set);
    void close_by_cost() { record_.step(ProofStep::close_cost); }
    // Weights of sets that load no sample with more than its cost.
    void cover(std::span<const Packed> weights);
    // The norm that the decided samples need, and samples that are kept because giving them up would cost too much.
    void norm(std::span<const Multiplier> certificate);
    void keep_dear(std::size_t sample);

    // Two parts follow: the sample is given up, or kept.
    void branch(std::size_t sample);
    // This part is the open subproblem with this number.
    void open(std::uint64_t number);

    Mark mark() const { return {sets_, packed_}; }
    void return_to(const Mark& mark);
    // Forgets what was written since the record had this size and mark.
    void forget(std::size_t size, const Mark& mark);

    // For other kinds of records: a certificate, the unit of weights, and a weight in this unit.
    void write(std::span<const Multiplier> certificate, ProofRecord& record) const;
    void write_unit(ProofRecord& record) const;
    std::uint64_t weight(double share) const;

private:
    const Samples& samples_;
    bool equal_costs_;
    int unit_exponent_;  // weights are multiples of this power of two
    ProofRecord record_;
    SetNumber sets_ = 0;
    std::vector<Packed> packed_;
    // The sets of the pool that are in the record; an entry counts if the other one confirms it.
    std::vector<SetNumber> number_in_record_;
    std::vector<std::size_t> index_in_pool_;
};

}  // namespace hardmargin
