// The innermost loops on dense arrays. Lengths called `stride` or `padded` are multiples of `lanes`, and the
// padding holds zeros, so that every loop runs over whole vectors. Sums run in `lanes` fixed partial sums:
// fast without -ffast-math, and the same on every call.
//
// Every loop is compiled twice, for any CPU and for those with AVX2 and FMA; which table serves is decided
// once, when the library is loaded.
#pragma once

#include <cstddef>

namespace hardmargin {

inline constexpr std::size_t lanes = 4;

// The smallest multiple of `lanes` that is >= count.
constexpr std::size_t padded_size(std::size_t count) {
    return (count + lanes - 1) / lanes * lanes;
}

struct Kernels {
    double (*dot)(const double* left, const double* right, std::size_t stride);
    void (*add_scaled)(double* target, double factor, const double* source, std::size_t stride);
    void (*multiply_rows)(const double* rows, std::size_t count, std::size_t stride, const double* vector,
                          double* out);
    void (*add_rows)(const double* rows, std::size_t count, std::size_t stride, const double* factors,
                     double* target);
    void (*rotate)(double* upper, double* lower, double cosine, double sine, std::size_t stride);
    void (*combine_columns)(const double* columns, std::size_t count, std::size_t padded,
                            const double* weights, double bias, const double* bias_column, double* out);
    std::size_t (*smallest_sum)(const double* values, const double* offsets, std::size_t padded);
};

extern const Kernels baseline_kernels;
extern const Kernels avx2_kernels;
extern const Kernels& kernels;

inline double dot(const double* left, const double* right, std::size_t stride) {
    return kernels.dot(left, right, stride);
}

// target += factor * source
inline void add_scaled(double* target, double factor, const double* source, std::size_t stride) {
    kernels.add_scaled(target, factor, source, stride);
}

// out[k] = rows[k] . vector for k < count; rows lie one after the other, `stride` apart.
inline void multiply_rows(const double* rows, std::size_t count, std::size_t stride, const double* vector,
                          double* out) {
    kernels.multiply_rows(rows, count, stride, vector, out);
}

// target += sum_k factors[k] * rows[k]
inline void add_rows(const double* rows, std::size_t count, std::size_t stride, const double* factors,
                     double* target) {
    kernels.add_rows(rows, count, stride, factors, target);
}

// (upper, lower) <- (cosine * upper + sine * lower, cosine * lower - sine * upper)
inline void rotate(double* upper, double* lower, double cosine, double sine, std::size_t stride) {
    kernels.rotate(upper, lower, cosine, sine, stride);
}

// out[i] = bias * bias_column[i] + sum_k weights[k] * columns[k][i] for i < padded; columns lie `padded`
// apart.
inline void combine_columns(const double* columns, std::size_t count, std::size_t padded,
                            const double* weights, double bias, const double* bias_column, double* out) {
    kernels.combine_columns(columns, count, padded, weights, bias, bias_column, out);
}

// Index i < padded of the smallest values[i] + offsets[i], the first of several; NaN is never chosen.
inline std::size_t smallest_sum(const double* values, const double* offsets, std::size_t padded) {
    return kernels.smallest_sum(values, offsets, padded);
}

}  // namespace hardmargin
