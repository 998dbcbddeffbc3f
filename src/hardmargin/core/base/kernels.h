// The innermost loops on dense arrays. Every loop runs over whole vectors: lengths called `stride` must be
// multiples of `lanes`, those called `padded` multiples of `tile`, and the padding must be zero. Only a `length` is
// arbitrary. Sums use `lanes` fixed partial sums, which is fast without -ffast-math and gives the same result on
// every call.
//
// Every loop is compiled three times: for any CPU, for CPUs with AVX2 and FMA, and for CPUs with AVX-512. The table
// to use is chosen once, when the library is loaded (base/kernels_choice.h).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace hardmargin {

inline constexpr std::size_t lanes = 4;

// The smallest multiple of `unit` that is >= count.
constexpr std::size_t padded_size(std::size_t count, std::size_t unit = lanes) {
    return (count + unit - 1) / unit * unit;
}

// Samples are evaluated in tiles of this size, and padded with zeros to whole tiles.
inline constexpr std::size_t tile = 8 * lanes;

// A samples x features matrix in tiles: the first feature of the tile's samples, then the second one, and so on, so
// that a pass over all samples reads memory sequentially. The column of the bias is stored separately.
struct Columns {
    const double* values;
    std::size_t count;
    std::size_t padded;  // samples, a multiple of `tile`
    const double* bias_column;
};

// The same in single precision, which halves the memory traffic, with the scales that turn margins into scores.
struct CoarseColumns {
    const float* values;
    std::size_t count;
    std::size_t padded;
    const float* bias_column;
    const float* scales;
};

// A word of pairs: one point and this many others, one bit per pair.
inline constexpr std::size_t word_bits = 64;

// The points and the others, in single precision. The difference of a pair takes values in a range. Let p be the
// difference of the projections, and a_k the absolute difference in column k of `count`. The range begins at p
// minus the sum of 2 a_k, and ends at p plus the sum of a_k + max(0, a_k - insets[k]).
struct PairRanges {
    const float* point_columns;  // `point_stride` apart
    std::size_t point_stride;
    const float* point_lows;  // projections minus and plus their error bounds
    const float* point_highs;
    const float* columns;  // `stride` apart
    std::size_t stride;
    const float* lows;
    const float* highs;
    std::size_t count;
    const float* insets;  // null stands for zeros
    float low;            // ranges that end below this get a bit in `below`
    float high;           // ranges that begin below this get a bit in `reaching`
};

struct PairBits {
    std::uint64_t below;
    std::uint64_t reaching;
};

// The same pairs after one coordinate has been halved. With v the difference of the values of a pair, the end of
// its range changes by min(0, v, 2 v + inset).
struct PairHalves {
    const float* point_values;
    const float* values;
    float inset;
    float low;  // ranges that end below this get a bit
};

struct Kernels {
    double (*dot)(const double* left, const double* right, std::size_t stride);
    void (*add_scaled)(double* target, double factor, const double* source, std::size_t length);
    void (*multiply_rows)(const double* rows, std::size_t count, std::size_t stride, const double* vector,
                          double* out);
    void (*add_rows)(const double* rows, std::size_t count, std::size_t stride, const double* factors,
                     double* target);
    void (*update_rows)(double* rows, std::size_t count, std::size_t stride, const double* factors,
                        const double* vector, std::size_t width);
    void (*rotate)(double* upper, double* lower, double cosine, double sine, std::size_t length);
    void (*combine_columns)(const Columns& columns, const double* weights, double bias, double* out);
    std::size_t (*price)(const Columns& columns, const double* weights, double bias, const double* scales,
                         const double* offsets, double* out);
    std::size_t (*coarse_price)(const CoarseColumns& columns, const float* weights, float bias,
                                const float* offsets, float* scores);
    PairBits (*compare_pairs)(const PairRanges& ranges, std::size_t point, std::size_t begin, std::uint64_t wanted,
                              float* ends);
    std::uint64_t (*compare_ends)(const float* ends, float limit, std::uint64_t wanted);
    std::uint64_t (*halve_pairs)(const PairHalves& halves, std::size_t point, std::size_t begin,
                                 std::uint64_t wanted, const float* ends, float* halved);
};

extern const Kernels baseline_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
extern const Kernels& kernels;

inline double dot(const double* left, const double* right, std::size_t stride) {
    assert(stride % lanes == 0);
    return kernels.dot(left, right, stride);
}

// target += factor * source
inline void add_scaled(double* target, double factor, const double* source, std::size_t length) {
    kernels.add_scaled(target, factor, source, length);
}

// out[k] = rows[k] . vector for k < count; rows lie one after the other, `stride` apart.
inline void multiply_rows(const double* rows, std::size_t count, std::size_t stride, const double* vector,
                          double* out) {
    assert(stride % lanes == 0);
    kernels.multiply_rows(rows, count, stride, vector, out);
}

// target += sum_k factors[k] * rows[k]
inline void add_rows(const double* rows, std::size_t count, std::size_t stride, const double* factors,
                     double* target) {
    assert(stride % lanes == 0);
    kernels.add_rows(rows, count, stride, factors, target);
}

// rows[k] += factors[k] * vector for k < count, in the first `width` entries, a multiple of `lanes`. Rows whose
// factor is zero are not touched. The padding of the rows may have any values.
inline void update_rows(double* rows, std::size_t count, std::size_t stride, const double* factors,
                        const double* vector, std::size_t width) {
    assert(width % lanes == 0 && width <= stride);
    kernels.update_rows(rows, count, stride, factors, vector, width);
}

// (upper, lower) <- (cosine * upper + sine * lower, cosine * lower - sine * upper)
inline void rotate(double* upper, double* lower, double cosine, double sine, std::size_t length) {
    kernels.rotate(upper, lower, cosine, sine, length);
}

// out[i] = bias * bias_column[i] + sum_k weights[k] * column_k[i] for i < padded.
inline void combine_columns(const Columns& columns, const double* weights, double bias, double* out) {
    assert(columns.padded % tile == 0);
    kernels.combine_columns(columns, weights, bias, out);
}

// The same, and returns the i with the smallest (out[i] - 1) * scales[i] + offsets[i]; NaN is never chosen.
inline std::size_t price(const Columns& columns, const double* weights, double bias, const double* scales,
                         const double* offsets, double* out) {
    assert(columns.padded % tile == 0);
    return kernels.price(columns, weights, bias, scales, offsets, out);
}

// Approximately what price() returns, in single precision; `scores` is scratch space of `padded` entries.
inline std::size_t coarse_price(const CoarseColumns& columns, const float* weights, float bias,
                                const float* offsets, float* scores) {
    assert(columns.padded % tile == 0);
    return kernels.coarse_price(columns, weights, bias, offsets, scores);
}

// Compares the ranges of the pairs of a point with the `word_bits` others from `begin` on, and stores where they
// end. Bits and ends of pairs that are not wanted are unspecified. `ends` has room for `word_bits` numbers.
inline PairBits compare_pairs(const PairRanges& ranges, std::size_t point, std::size_t begin, std::uint64_t wanted,
                              float* ends) {
    assert(point < ranges.point_stride && begin + word_bits <= ranges.stride);
    return kernels.compare_pairs(ranges, point, begin, wanted, ends);
}

// Which of the wanted ranges end below the limit; `ends` comes from compare_pairs.
inline std::uint64_t compare_ends(const float* ends, float limit, std::uint64_t wanted) {
    return kernels.compare_ends(ends, limit, wanted);
}

// Which of the wanted ranges end below the limit after a coordinate has been halved. Stores where they end; `ends`
// and `halved` are as in compare_pairs.
inline std::uint64_t halve_pairs(const PairHalves& halves, std::size_t point, std::size_t begin,
                                 std::uint64_t wanted, const float* ends, float* halved) {
    return kernels.halve_pairs(halves, point, begin, wanted, ends, halved);
}

}  // namespace hardmargin
