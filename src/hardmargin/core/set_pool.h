// Certified sets, kept for use in other subproblems than the one they were found in.
//
// A set is a certificate without its multipliers: keeping all of its samples, with the samples in its flips not
// beyond their margins, costs at least `value` in the norm alone. So wherever the flips are given up and the room
// is not above `value`, one of the samples must be given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "certificate.h"

namespace hardmargin {

class SetPool {
public:
    struct CertifiedSet {
        std::vector<std::uint32_t> samples;  // ascending
        std::vector<std::uint32_t> flips;    // ascending
        double value = 0;
        std::uint64_t last_use = 0;
    };

    explicit SetPool(std::size_t sample_count) : sample_count_(sample_count) {}

    std::size_t size() const { return sets_.size(); }
    const CertifiedSet& operator[](std::size_t index) const { return sets_[index]; }
    std::size_t memory() const { return memory_; }

    // The index of the set; one that is known already keeps its index and the better value.
    std::size_t add(std::span<const Multiplier> certificate, double value);
    void note_use(std::size_t index) { sets_[index].last_use = ++uses_; }
    // Forgets all sets but the `count` used last; the others are numbered anew, in the same order.
    void trim(std::size_t count);

private:
    static std::uint64_t hash(const CertifiedSet& set);

    std::size_t sample_count_;
    std::vector<CertifiedSet> sets_;
    std::unordered_map<std::uint64_t, std::size_t> index_of_hash_;
    std::uint64_t uses_ = 0;
    std::size_t memory_ = 0;
};

}  // namespace hardmargin
