// An open subproblem of the search over samples, as plain data: enough to continue it anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hardmargin {

struct PackingNode {
    std::vector<std::uint32_t> kept;      // samples decided to be kept, ascending
    std::vector<std::uint32_t> given_up;  // samples decided to be given up, ascending
    // No solution of the subproblem costs less than the minimum of `bound` and `upper`: some decisions are only
    // valid for solutions better than `upper`, from which the gap is already subtracted.
    double bound = 0;
    double upper = 0;
    // Its number in a proof (tree/proof_sink.h); 0 is the whole problem.
    std::uint64_t proof = 0;

    std::size_t size_in_memory() const {
        return sizeof(*this) + sizeof(std::uint32_t) * (kept.capacity() + given_up.capacity());
    }
};

}  // namespace hardmargin
