#include "basis.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace hardmargin {

Basis::Basis(std::size_t dimension, std::size_t stride)
    : dimension_(dimension), stride_(stride), correction_(dimension) {
    orthonormal_.reserve(dimension * stride);
    triangle_.reserve(dimension * dimension);
}

void Basis::clear() {
    count_ = 0;
    orthonormal_.clear();
    triangle_.clear();
}

double Basis::split(const double* vector, double* projections, double* rest) {
    std::copy_n(vector, stride_, rest);
    std::fill_n(projections, count_, 0.0);
    for (int pass = 0; pass < 2; ++pass) {
        multiply_rows(orthonormal_.data(), count_, stride_, rest, correction_.data());
        for (std::size_t k = 0; k < count_; ++k) {
            projections[k] += correction_[k];
            correction_[k] = -correction_[k];
        }
        add_rows(orthonormal_.data(), count_, stride_, correction_.data(), rest);
    }
    return dot(rest, rest, stride_);
}

void Basis::append(const double* projections, const double* rest, double squared_length) {
    const double length = std::sqrt(squared_length);
    triangle_.resize((count_ + 1) * dimension_);
    std::copy_n(projections, count_, &triangle(0, count_));
    triangle(count_, count_) = length;
    orthonormal_.resize((count_ + 1) * stride_);
    std::transform(rest, rest + stride_, orthonormal_.begin() + static_cast<std::ptrdiff_t>(count_ * stride_),
                   [length](double value) { return value / length; });
    ++count_;
}

void Basis::erase(std::size_t k) {
    for (std::size_t column = k; column + 1 < count_; ++column) {
        std::copy_n(&triangle(0, column + 1), column + 2, &triangle(0, column));
    }
    --count_;
    // Each column from k on has one entry below the diagonal now; rotations of the basis remove it.
    for (std::size_t column = k; column < count_; ++column) {
        const double diagonal = triangle(column, column);
        const double below = triangle(column + 1, column);
        const double length = std::hypot(diagonal, below);
        const double cosine = length > 0 ? diagonal / length : 1.0;
        const double sine = length > 0 ? below / length : 0.0;
        triangle(column, column) = length;
        for (std::size_t later = column + 1; later < count_; ++later) {
            rotate(&triangle(column, later), &triangle(column + 1, later), cosine, sine, 1);
        }
        rotate(&orthonormal_[column * stride_], &orthonormal_[(column + 1) * stride_], cosine, sine, stride_);
    }
    triangle_.resize(count_ * dimension_);
    orthonormal_.resize(count_ * stride_);
}

void Basis::shares(const double* projections, double* shares) const {
    std::copy_n(projections, count_, shares);
    for (std::size_t column = count_; column-- > 0;) {
        shares[column] /= triangle(column, column);
        for (std::size_t row = 0; row < column; ++row) {
            shares[row] -= triangle(row, column) * shares[column];
        }
    }
}

void Basis::coordinates(const double* bounds, double* coordinates) const {
    for (std::size_t column = 0; column < count_; ++column) {
        double sum = bounds[column];
        for (std::size_t row = 0; row < column; ++row) {
            sum -= triangle(row, column) * coordinates[row];
        }
        coordinates[column] = sum / triangle(column, column);
    }
}

void Basis::add_to(const double* coordinates, double* vector) const {
    add_rows(orthonormal_.data(), count_, stride_, coordinates, vector);
}

}  // namespace hardmargin
