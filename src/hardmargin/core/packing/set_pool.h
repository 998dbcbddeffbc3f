// Certified sets, stored for use in other subproblems than the one they were found in.
//
// A set is a certificate without its multipliers: keeping all of its samples, with its flipped samples at or inside
// their margins, costs at least `value` in the norm alone. So in every subproblem where the flips are given up and
// the room is not above `value`, one of the samples must be given up.
//
// Samples and flips are stored as bits, because the main operation is to find the sets that are valid under the
// decisions of a subproblem, which takes a few operations on words per set.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/bits.h"
#include "base/kernels.h"
#include "qp/certificate.h"
#include "qp/rows.h"

namespace hardmargin {

// A set of samples as bits.
class SampleBits {
public:
    static std::size_t words_for(std::size_t sample_count) { return (sample_count + word_bits - 1) / word_bits; }

    explicit SampleBits(std::size_t sample_count) : words_(words_for(sample_count)) {}

    void clear() { std::fill(words_.begin(), words_.end(), 0); }
    void insert(std::size_t sample) {
        assert(sample / word_bits < words_.size());
        set_bit(words_.data(), sample);
    }
    std::span<const std::uint64_t> words() const { return words_; }
    bool operator==(const SampleBits& other) const = default;

private:
    std::vector<std::uint64_t> words_;
};

class SetPool {
public:
    // With `keeps_certificates` the multipliers are stored too, for proofs.
    explicit SetPool(std::size_t sample_count, bool keeps_certificates = false)
        : sample_count_(sample_count),
          rows_(sample_count),
          words_(SampleBits::words_for(sample_count)),
          keeps_certificates_(keeps_certificates) {}

    std::size_t size() const { return entries_.size(); }
    std::size_t memory() const;
    double value(std::size_t index) const { return entries_[index].value; }
    // Its rows are among the samples and flips of the set, and it proves the value. Only with `keeps_certificates`.
    std::span<const Multiplier> certificate(std::size_t index) const { return certificates_[index]; }
    // When the set was last used, counted in uses of the whole pool.
    std::uint64_t last_use(std::size_t index) const { return entries_[index].last_use; }
    std::uint64_t uses() const { return uses_; }
    // Ascending.
    std::vector<std::uint32_t> samples(std::size_t index) const { return listed(sample_bits(index)); }
    std::vector<std::uint32_t> flips(std::size_t index) const { return listed(flip_bits(index)); }
    std::span<const std::uint64_t> sample_bits(std::size_t index) const { return bits(2 * index); }
    std::span<const std::uint64_t> flip_bits(std::size_t index) const { return bits(2 * index + 1); }

    // Returns the index of the set. One that is already known keeps its index, and the larger value. The
    // certificate must consist of samples, flips and bounds on the weights, which hold everywhere and are left out:
    // other extra rows are valid in one region only, but a set must be valid everywhere.
    std::size_t add(std::span<const Multiplier> certificate, double value);
    // The same for a set of another pool over the same samples.
    std::size_t add(const SetPool& other, std::size_t index);
    void note_use(std::size_t index) { entries_[index].last_use = ++uses_; }
    // Keeps the `count` most recently used sets, renumbered in the same order.
    void trim(std::size_t count);

private:
    struct Entry {
        double value;
        std::uint64_t last_use;
    };

    std::span<const std::uint64_t> bits(std::size_t row) const {
        assert(row < 2 * size());
        return {bits_.data() + row * words_, words_};
    }
    std::vector<std::uint32_t> listed(std::span<const std::uint64_t> bits) const;
    // Replaces the certificate of a set if this one proves a larger value.
    void raise(std::size_t index, std::span<const Multiplier> certificate, double value);
    // Adds the set whose bits were appended to bits_.
    std::size_t add_appended(std::span<const Multiplier> certificate, double value);
    std::uint64_t hash(std::size_t index) const;

    std::size_t sample_count_;
    RowNumbers rows_;
    std::size_t words_;
    bool keeps_certificates_;
    std::vector<Entry> entries_;
    std::vector<std::vector<Multiplier>> certificates_;
    std::size_t multipliers_ = 0;      // of all certificates
    std::vector<std::uint64_t> bits_;  // per set: samples, then flips
    std::unordered_map<std::uint64_t, std::size_t> index_of_hash_;
    std::uint64_t uses_ = 0;
};

}  // namespace hardmargin
