// The bodies of the loops that kernels.h declares. Every file that compiles them for a kind of CPU includes
// this once and defines its table from `loops`. Only plain code in here: an inline function of the standard
// library, compiled for AVX2, could be picked by the linker for callers on older CPUs.
#pragma once

#include <cstddef>

#include "kernels.h"

namespace hardmargin {

namespace {

// One vector of doubles, in whatever registers the target has (GCC and Clang).
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
using UnalignedLanes =
    double __attribute__((vector_size(lanes * sizeof(double)), aligned(sizeof(double)), may_alias));

#define HARDMARGIN_LOAD(source) (*reinterpret_cast<const UnalignedLanes*>(source))
#define HARDMARGIN_STORE(target) (*reinterpret_cast<UnalignedLanes*>(target))

double dot_loop(const double* left, const double* right, std::size_t stride) {
    Lanes partial = {};
    for (std::size_t k = 0; k < stride; k += lanes) {
        partial += HARDMARGIN_LOAD(left + k) * HARDMARGIN_LOAD(right + k);
    }
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

void add_scaled_loop(double* target, double factor, const double* source, std::size_t stride) {
    for (std::size_t k = 0; k < stride; ++k) {
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

void rotate_loop(double* upper, double* lower, double cosine, double sine, std::size_t stride) {
    for (std::size_t k = 0; k < stride; ++k) {
        const double first = upper[k];
        const double second = lower[k];
        upper[k] = cosine * first + sine * second;
        lower[k] = cosine * second - sine * first;
    }
}

// One tile of combine_columns; its four vectors stay in registers while the columns pass by.
inline void combine_tile(const Columns& columns, const double* weights, double bias, std::size_t i, Lanes* sums) {
    const double* values = columns.values + i * columns.count;
    for (std::size_t part = 0; part < 4; ++part) {
        sums[part] = bias * HARDMARGIN_LOAD(columns.bias_column + i + part * lanes);
    }
    for (std::size_t k = 0; k < columns.count; ++k) {
        for (std::size_t part = 0; part < 4; ++part) {
            sums[part] += weights[k] * HARDMARGIN_LOAD(values + k * tile + part * lanes);
        }
    }
}

void combine_columns_loop(const Columns& columns, const double* weights, double bias, double* out) {
    for (std::size_t i = 0; i < columns.padded; i += tile) {
        Lanes sums[4];
        combine_tile(columns, weights, bias, i, sums);
        for (std::size_t part = 0; part < 4; ++part) {
            HARDMARGIN_STORE(out + i + part * lanes) = sums[part];
        }
    }
}

std::size_t price_loop(const Columns& columns, const double* weights, double bias, const double* scales,
                       const double* offsets, double* out) {
    constexpr double infinity = __builtin_inf();
    Lanes best = {infinity, infinity, infinity, infinity};
    Lanes where = {};
    Lanes position = {0, 1, 2, 3};
    for (std::size_t i = 0; i < columns.padded; i += tile) {
        Lanes sums[4];
        combine_tile(columns, weights, bias, i, sums);
        for (std::size_t part = 0; part < 4; ++part) {
            const std::size_t at = i + part * lanes;
            HARDMARGIN_STORE(out + at) = sums[part];
            const Lanes score = (sums[part] - 1.0) * HARDMARGIN_LOAD(scales + at) + HARDMARGIN_LOAD(offsets + at);
            where = score < best ? position : where;
            best = score < best ? score : best;
            position += static_cast<double>(lanes);
        }
    }
    std::size_t chosen = 0;
    for (std::size_t lane = 1; lane < lanes; ++lane) {
        if (best[lane] < best[chosen] || (best[lane] == best[chosen] && where[lane] < where[chosen])) {
            chosen = lane;
        }
    }
    return static_cast<std::size_t>(where[chosen]);
}

constexpr Kernels loops = {dot_loop,    add_scaled_loop,      multiply_rows_loop, add_rows_loop,
                           rotate_loop, combine_columns_loop, price_loop};

#undef HARDMARGIN_LOAD
#undef HARDMARGIN_STORE

}  // namespace

}  // namespace hardmargin
