// One record of a proof: the steps by which the parts of one subproblem were closed, as bytes (docs/proofs.md).
//
// Numbers are written with seven bits per byte, the lowest first; all bytes but the last have the highest bit set.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hardmargin {

// The steps, as docs/proofs.md describes them. The numbers are part of the file format.
enum class ProofStep : std::uint8_t {
    set = 1,
    pack = 2,
    unpack = 3,
    unit = 4,
    branch = 5,
    close_set = 6,
    close_cost = 7,
    open = 8,
    cover = 9,
    norm = 10,
    dear = 11,
    pairs = 20,
    region_set = 21,
    split = 22,
    split_lengths = 23,
    close_region = 24,
    close_exactly = 25,
    cases = 26,
    one_case = 27,
    end_cases = 28,
    samples = 29,
    region_norm = 30,
};

class ProofRecord {
public:
    void clear() { bytes_.clear(); }
    void step(ProofStep step) { bytes_.push_back(static_cast<std::uint8_t>(step)); }
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) {
            bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
        }
        bytes_.push_back(static_cast<std::uint8_t>(value));
    }
    // Ascending numbers, as differences.
    void ascending(std::span<const std::uint32_t> values) {
        number(values.size());
        std::uint32_t last = 0;
        for (const std::uint32_t value : values) {
            assert(value >= last);
            number(value - last);
            last = value;
        }
    }
    void append(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

    std::span<const std::uint8_t> bytes() const { return bytes_; }
    std::size_t size() const { return bytes_.size(); }
    // Forgets what was written after this size.
    void shorten(std::size_t size) {
        assert(size <= bytes_.size());
        bytes_.resize(size);
    }

private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace hardmargin
