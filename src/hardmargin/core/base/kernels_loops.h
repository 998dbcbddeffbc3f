// The bodies of the loops that base/kernels.h declares. Each file that compiles them for one kind of CPU includes
// this header once and defines its table from `loops`. The code here must not call inline functions of the standard
// library: the linker could pick a copy that was compiled for AVX2 for callers on older CPUs.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "base/kernels.h"

namespace hardmargin {

namespace {

// One vector of doubles, in whatever registers the target has (GCC and Clang).
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
// Attributes of the alias, not of the type after "=": there, Clang would ignore the alignment.
using UnalignedLanes [[gnu::aligned(sizeof(double)), gnu::may_alias]] = Lanes;
static_assert(alignof(UnalignedLanes) == sizeof(double));

#define HARDMARGIN_LOAD(source) (*reinterpret_cast<const UnalignedLanes*>(source))
#define HARDMARGIN_STORE(target) (*reinterpret_cast<UnalignedLanes*>(target))

// This many single-precision values are as large as Lanes.
inline constexpr std::size_t float_lanes = 2 * lanes;
using FloatLanes = float __attribute__((vector_size(float_lanes * sizeof(float))));
using UnalignedFloatLanes [[gnu::aligned(sizeof(float)), gnu::may_alias]] = FloatLanes;
static_assert(alignof(UnalignedFloatLanes) == sizeof(float));

#define HARDMARGIN_LOAD_FLOATS(source) (*reinterpret_cast<const UnalignedFloatLanes*>(source))
#define HARDMARGIN_STORE_FLOATS(target) (*reinterpret_cast<UnalignedFloatLanes*>(target))

double dot_loop(const double* left, const double* right, std::size_t stride) {
    Lanes partial = {};
    for (std::size_t k = 0; k < stride; k += lanes) {
        partial += HARDMARGIN_LOAD(left + k) * HARDMARGIN_LOAD(right + k);
    }
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

void add_scaled_loop(double* target, double factor, const double* source, std::size_t length) {
    for (std::size_t k = 0; k < length; ++k) {
        target[k] += factor * source[k];
    }
}

void multiply_rows_loop(const double* rows, std::size_t count, std::size_t stride, const double* vector,
                        double* out) {
    for (std::size_t k = 0; k < count; ++k) {
        out[k] = dot_loop(rows + k * stride, vector, stride);
    }
}

void add_rows_loop(const double* rows, std::size_t count, std::size_t stride, const double* factors,
                   double* target) {
    for (std::size_t i = 0; i < stride; i += lanes) {
        Lanes sum = HARDMARGIN_LOAD(target + i);
        for (std::size_t k = 0; k < count; ++k) {
            sum += factors[k] * HARDMARGIN_LOAD(rows + k * stride + i);
        }
        HARDMARGIN_STORE(target + i) = sum;
    }
}

void update_rows_loop(double* rows, std::size_t count, std::size_t stride, const double* factors,
                      const double* vector, std::size_t width) {
    for (std::size_t k = 0; k < count; ++k) {
        const double factor = factors[k];
        if (factor == 0) {
            continue;
        }
        double* const row = rows + k * stride;
        for (std::size_t i = 0; i < width; i += lanes) {
            HARDMARGIN_STORE(row + i) = HARDMARGIN_LOAD(row + i) + factor * HARDMARGIN_LOAD(vector + i);
        }
    }
}

void rotate_loop(double* upper, double* lower, double cosine, double sine, std::size_t length) {
    for (std::size_t k = 0; k < length; ++k) {
        const double first = upper[k];
        const double second = lower[k];
        upper[k] = cosine * first + sine * second;
        lower[k] = cosine * second - sine * first;
    }
}

// One tile of combine_columns; its sums stay in registers in the loop over the columns.
inline void combine_tile(const Columns& columns, const double* weights, double bias, std::size_t i, Lanes* sums) {
    const double* values = columns.values + i * columns.count;
    for (std::size_t part = 0; part < tile / lanes; ++part) {
        sums[part] = bias * HARDMARGIN_LOAD(columns.bias_column + i + part * lanes);
    }
    for (std::size_t k = 0; k < columns.count; ++k) {
        for (std::size_t part = 0; part < tile / lanes; ++part) {
            sums[part] += weights[k] * HARDMARGIN_LOAD(values + k * tile + part * lanes);
        }
    }
}

void combine_columns_loop(const Columns& columns, const double* weights, double bias, double* out) {
    for (std::size_t i = 0; i < columns.padded; i += tile) {
        Lanes sums[tile / lanes];
        combine_tile(columns, weights, bias, i, sums);
        for (std::size_t part = 0; part < tile / lanes; ++part) {
            HARDMARGIN_STORE(out + i + part * lanes) = sums[part];
        }
    }
}

std::size_t price_loop(const Columns& columns, const double* weights, double bias, const double* scales,
                       const double* offsets, double* out) {
    // First find the best tile: comparing whole tiles keeps the vectors independent of each other.
    double smallest = __builtin_inf();
    std::size_t best_tile = 0;
    for (std::size_t i = 0; i < columns.padded; i += tile) {
        Lanes sums[tile / lanes];
        combine_tile(columns, weights, bias, i, sums);
        Lanes scores[tile / lanes];
        for (std::size_t part = 0; part < tile / lanes; ++part) {
            const std::size_t at = i + part * lanes;
            HARDMARGIN_STORE(out + at) = sums[part];
            scores[part] = (sums[part] - 1.0) * HARDMARGIN_LOAD(scales + at) + HARDMARGIN_LOAD(offsets + at);
        }
        for (std::size_t half = tile / lanes / 2; half > 0; half /= 2) {
            for (std::size_t part = 0; part < half; ++part) {
                scores[part] = scores[part + half] < scores[part] ? scores[part + half] : scores[part];
            }
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            if (scores[0][lane] < smallest) {
                smallest = scores[0][lane];
                best_tile = i;
            }
        }
    }
    std::size_t chosen = best_tile;
    double best = __builtin_inf();
    for (std::size_t i = best_tile; i < best_tile + tile && i < columns.padded; ++i) {
        const double score = (out[i] - 1.0) * scales[i] + offsets[i];
        if (score < best) {
            best = score;
            chosen = i;
        }
    }
    return chosen;
}

std::size_t coarse_price_loop(const CoarseColumns& columns, const float* weights, float bias, const float* offsets,
                              float* scores) {
    constexpr std::size_t parts = tile / float_lanes;
    float smallest = __builtin_inff();
    std::size_t best_tile = 0;
    for (std::size_t i = 0; i < columns.padded; i += tile) {
        const float* values = columns.values + i * columns.count;
        FloatLanes sums[parts];
        for (std::size_t part = 0; part < parts; ++part) {
            sums[part] = bias * HARDMARGIN_LOAD_FLOATS(columns.bias_column + i + part * float_lanes) - 1.0f;
        }
        for (std::size_t k = 0; k < columns.count; ++k) {
            for (std::size_t part = 0; part < parts; ++part) {
                sums[part] += weights[k] * HARDMARGIN_LOAD_FLOATS(values + k * tile + part * float_lanes);
            }
        }
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t at = i + part * float_lanes;
            sums[part] =
                sums[part] * HARDMARGIN_LOAD_FLOATS(columns.scales + at) + HARDMARGIN_LOAD_FLOATS(offsets + at);
            HARDMARGIN_STORE_FLOATS(scores + at) = sums[part];
        }
        for (std::size_t half = parts / 2; half > 0; half /= 2) {
            for (std::size_t part = 0; part < half; ++part) {
                sums[part] = sums[part + half] < sums[part] ? sums[part + half] : sums[part];
            }
        }
        for (std::size_t lane = 0; lane < float_lanes; ++lane) {
            if (sums[0][lane] < smallest) {
                smallest = sums[0][lane];
                best_tile = i;
            }
        }
    }
    std::size_t chosen = best_tile;
    for (std::size_t i = best_tile; i < best_tile + tile && i < columns.padded; ++i) {
        if (scores[i] < scores[chosen]) {
            chosen = i;
        }
    }
    return chosen;
}

// Pairs are compared in the widest registers available.
#ifdef __AVX512F__
inline constexpr std::size_t pair_lanes = 16;
#else
inline constexpr std::size_t pair_lanes = 8;
#endif
using PairLanes = float __attribute__((vector_size(pair_lanes * sizeof(float))));
using UnalignedPairLanes [[gnu::aligned(sizeof(float)), gnu::may_alias]] = PairLanes;
static_assert(alignof(UnalignedPairLanes) == sizeof(float));
using PairIntegers = std::int32_t __attribute__((vector_size(pair_lanes * sizeof(std::int32_t))));

#define HARDMARGIN_LOAD_PAIRS(source) (*reinterpret_cast<const UnalignedPairLanes*>(source))
#define HARDMARGIN_STORE_PAIRS(target) (*reinterpret_cast<UnalignedPairLanes*>(target))
// Absolute values: all but the sign bits. Not a function, which could not return vectors on every target.
#define HARDMARGIN_SIZES(values) reinterpret_cast<PairLanes>(reinterpret_cast<PairIntegers>(values) & 0x7fffffff)

// The smaller of two values, and values with the positive ones replaced by 0. GCC warns of an uninitialized
// variable in _mm512_min_ps().
#if defined(__AVX512F__)
#define HARDMARGIN_LESSER(left, right) _mm512_maskz_min_ps(__mmask16{0xffff}, left, right)
#elif defined(__AVX2__)
#define HARDMARGIN_LESSER(left, right) _mm256_min_ps(left, right)
#else
#define HARDMARGIN_LESSER(left, right) ((left) < (right) ? (left) : (right))
#endif
#define HARDMARGIN_NEGATIVE_PARTS(values) HARDMARGIN_LESSER(values, PairLanes{})

// One bit for every lane that is below the limit.
inline std::uint64_t bits_below(const PairLanes& values, float limit) {
#if defined(__AVX512F__)
    return static_cast<std::uint64_t>(_mm512_cmp_ps_mask(values, _mm512_set1_ps(limit), _CMP_LT_OQ));
#elif defined(__AVX2__)
    return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_cmp_ps(values, _mm256_set1_ps(limit), _CMP_LT_OQ)));
#else
    std::uint64_t bits = 0;
    for (std::size_t lane = 0; lane < pair_lanes; ++lane) {
        bits |= static_cast<std::uint64_t>(values[lane] < limit) << lane;
    }
    return bits;
#endif
}

inline constexpr std::size_t pair_parts = 2;  // vectors that stay in registers in the loop over the columns
inline constexpr std::size_t pair_group = pair_parts * pair_lanes;
inline constexpr std::uint64_t pair_group_bits = (std::uint64_t{1} << pair_group) - 1;

template <bool has_insets>
inline PairBits compare_pairs_with(const PairRanges& ranges, std::size_t point, std::size_t begin,
                                   std::uint64_t wanted, float* ends) {
    PairBits bits = {0, 0};
    const float point_low = ranges.point_lows[point];
    const float point_high = ranges.point_highs[point];
    for (std::size_t first = 0; first < word_bits; first += pair_group) {
        if ((wanted >> first & pair_group_bits) == 0) {
            continue;
        }
        PairLanes radii[pair_parts] = {};   // half of them
        PairLanes excess[pair_parts] = {};  // what exceeds the insets
        const float* column = ranges.columns + begin + first;
        const float* value = ranges.point_columns + point;
        for (std::size_t k = 0; k < ranges.count; ++k, column += ranges.stride, value += ranges.point_stride) {
            for (std::size_t part = 0; part < pair_parts; ++part) {
                const PairLanes difference = *value - HARDMARGIN_LOAD_PAIRS(column + part * pair_lanes);
                const PairLanes size = HARDMARGIN_SIZES(difference);
                radii[part] += size;
                if constexpr (has_insets) {
                    excess[part] += size - HARDMARGIN_LESSER(size, PairLanes{} + ranges.insets[k]);
                }
            }
        }
        for (std::size_t part = 0; part < pair_parts; ++part) {
            const std::size_t offset = first + part * pair_lanes;
            const PairLanes highest = point_high - HARDMARGIN_LOAD_PAIRS(ranges.lows + begin + offset);
            const PairLanes lowest = point_low - HARDMARGIN_LOAD_PAIRS(ranges.highs + begin + offset);
            const PairLanes radius = 2 * radii[part];
            const PairLanes end = highest + (has_insets ? radii[part] + excess[part] : radius);
            HARDMARGIN_STORE_PAIRS(ends + offset) = end;
            bits.below |= bits_below(end, ranges.low) << offset;
            bits.reaching |= bits_below(lowest - radius, ranges.high) << offset;
        }
    }
    return bits;
}

PairBits compare_pairs_loop(const PairRanges& ranges, std::size_t point, std::size_t begin, std::uint64_t wanted,
                            float* ends) {
    return ranges.insets != nullptr ? compare_pairs_with<true>(ranges, point, begin, wanted, ends)
                                    : compare_pairs_with<false>(ranges, point, begin, wanted, ends);
}

std::uint64_t compare_ends_loop(const float* ends, float limit, std::uint64_t wanted) {
    std::uint64_t bits = 0;
    for (std::size_t first = 0; first < word_bits; first += pair_group) {
        if ((wanted >> first & pair_group_bits) == 0) {
            continue;
        }
        for (std::size_t part = 0; part < pair_parts; ++part) {
            const std::size_t offset = first + part * pair_lanes;
            // Copied first: the compiler would assume that a reference to unaligned memory is aligned.
            const PairLanes values = HARDMARGIN_LOAD_PAIRS(ends + offset);
            bits |= bits_below(values, limit) << offset;
        }
    }
    return bits & wanted;
}

std::uint64_t halve_pairs_loop(const PairHalves& halves, std::size_t point, std::size_t begin, std::uint64_t wanted,
                               const float* ends, float* halved) {
    std::uint64_t bits = 0;
    const float value = halves.point_values[point];
    for (std::size_t first = 0; first < word_bits; first += pair_group) {
        if ((wanted >> first & pair_group_bits) == 0) {
            continue;
        }
        for (std::size_t part = 0; part < pair_parts; ++part) {
            const std::size_t offset = first + part * pair_lanes;
            const PairLanes difference = value - HARDMARGIN_LOAD_PAIRS(halves.values + begin + offset);
            const PairLanes beyond = difference + (difference + halves.inset);
            const PairLanes fall = HARDMARGIN_NEGATIVE_PARTS(HARDMARGIN_LESSER(difference, beyond));
            const PairLanes end = HARDMARGIN_LOAD_PAIRS(ends + offset) + fall;
            HARDMARGIN_STORE_PAIRS(halved + offset) = end;
            bits |= bits_below(end, halves.low) << offset;
        }
    }
    return bits & wanted;
}

constexpr Kernels loops = {dot_loop,          add_scaled_loop,    multiply_rows_loop,   add_rows_loop,
                           update_rows_loop,  rotate_loop,        combine_columns_loop, price_loop,
                           coarse_price_loop, compare_pairs_loop, compare_ends_loop,    halve_pairs_loop};

#undef HARDMARGIN_NEGATIVE_PARTS
#undef HARDMARGIN_LESSER
#undef HARDMARGIN_SIZES
#undef HARDMARGIN_LOAD_PAIRS
#undef HARDMARGIN_STORE_PAIRS
#undef HARDMARGIN_LOAD
#undef HARDMARGIN_STORE
#undef HARDMARGIN_LOAD_FLOATS
#undef HARDMARGIN_STORE_FLOATS

}  // namespace

}  // namespace hardmargin
