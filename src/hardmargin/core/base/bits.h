// Single bits of arrays of words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/kernels.h"

namespace hardmargin {

inline void set_bit(std::uint64_t* words, std::size_t bit) {
    words[bit / word_bits] |= std::uint64_t{1} << (bit % word_bits);
}

inline bool is_set(const std::uint64_t* words, std::size_t bit) {
    return (words[bit / word_bits] >> (bit % word_bits) & 1) != 0;
}

inline void unset_bit(std::uint64_t* words, std::size_t bit) {
    words[bit / word_bits] &= ~(std::uint64_t{1} << (bit % word_bits));
}

}  // namespace hardmargin
