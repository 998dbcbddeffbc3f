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

void combine_columns_loop(const double* columns, std::size_t count, std::size_t padded, const double* weights,
                          double bias, const double* bias_column, double* out) {
    std::size_t i = 0;
    // Four vectors of samples stay in registers while the columns pass by, so that `out` is written once.
    for (; i + 4 * lanes <= padded; i += 4 * lanes) {
        Lanes sums[4];
        for (std::size_t part = 0; part < 4; ++part) {
            sums[part] = bias * HARDMARGIN_LOAD(bias_column + i + part * lanes);
        }
        for (std::size_t k = 0; k < count; ++k) {
            const double* column = columns + k * padded + i;
            for (std::size_t part = 0; part < 4; ++part) {
                sums[part] += weights[k] * HARDMARGIN_LOAD(column + part * lanes);
            }
        }
        for (std::size_t part = 0; part < 4; ++part) {
            HARDMARGIN_STORE(out + i + part * lanes) = sums[part];
        }
    }
    for (; i < padded; i += lanes) {
        Lanes sum = bias * HARDMARGIN_LOAD(bias_column + i);
        for (std::size_t k = 0; k < count; ++k) {
            sum += weights[k] * HARDMARGIN_LOAD(columns + k * padded + i);
        }
        HARDMARGIN_STORE(out + i) = sum;
    }
}

std::size_t smallest_sum_loop(const double* values, const double* offsets, std::size_t padded) {
    constexpr double infinity = __builtin_inf();
    Lanes best[2] = {{infinity, infinity, infinity, infinity}, {infinity, infinity, infinity, infinity}};
    Lanes where[2] = {};
    Lanes position = {0, 1, 2, 3};
    std::size_t i = 0;
    for (; i + 2 * lanes <= padded; i += 2 * lanes) {
        const Lanes next = position + static_cast<double>(lanes);
        const Lanes first = HARDMARGIN_LOAD(values + i) + HARDMARGIN_LOAD(offsets + i);
        const Lanes second = HARDMARGIN_LOAD(values + i + lanes) + HARDMARGIN_LOAD(offsets + i + lanes);
        where[0] = first < best[0] ? position : where[0];
        best[0] = first < best[0] ? first : best[0];
        where[1] = second < best[1] ? next : where[1];
        best[1] = second < best[1] ? second : best[1];
        position = next + static_cast<double>(lanes);
    }
    if (i < padded) {
        const Lanes sum = HARDMARGIN_LOAD(values + i) + HARDMARGIN_LOAD(offsets + i);
        where[0] = sum < best[0] ? position : where[0];
        best[0] = sum < best[0] ? sum : best[0];
    }
    double smallest = infinity;
    double chosen = 0;
    for (std::size_t lane = 0; lane < 2 * lanes; ++lane) {
        const double value = best[lane / lanes][lane % lanes];
        const double index = where[lane / lanes][lane % lanes];
        if (value < smallest || (value == smallest && index < chosen)) {
            smallest = value;
            chosen = index;
        }
    }
    return static_cast<std::size_t>(chosen);
}

constexpr Kernels loops = {dot_loop,    add_scaled_loop,      multiply_rows_loop, add_rows_loop,
                           rotate_loop, combine_columns_loop, smallest_sum_loop};

#undef HARDMARGIN_LOAD
#undef HARDMARGIN_STORE

}  // namespace

}  // namespace hardmargin
