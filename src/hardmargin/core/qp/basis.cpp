#include "qp/basis.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/kernels.h"

namespace hardmargin {

Basis::Basis(std::size_t dimension, std::size_t stride)
    : stride_(stride), inverse_diagonal_(dimension), correction_(dimension) {}

void Basis::clear() {
    count_ = 0;
    orthonormal_.clear();
    triangle_.clear();
}

double Basis::split(const double* vector, double* projections, double* rest) {
    // If the first projection cancels most of the vector, a second one removes what rounding left in the span.
    constexpr double much_cancelled = 0.25;
    std::copy_n(vector, stride_, rest);
    std::fill_n(projections, count_, 0.0);
    double squared_length = dot(rest, rest, stride_);
    for (int pass = 0; pass < 2; ++pass) {
        const double before = squared_length;
        multiply_rows(orthonormal_.data(), count_, stride_, rest, correction_.data());
        for (std::size_t k = 0; k < count_; ++k) {
            projections[k] += correction_[k];
            correction_[k] = -correction_[k];
        }
        add_rows(orthonormal_.data(), count_, stride_, correction_.data(), rest);
        squared_length = dot(rest, rest, stride_);
        if (squared_length > much_cancelled * before) {
            break;
        }
    }
    return squared_length;
}

void Basis::append(const double* projections, const double* rest, double squared_length) {
    assert(squared_length > 0);
    assert(count_ < inverse_diagonal_.size());
    const double length = std::sqrt(squared_length);
    triangle_.resize(column_begin(count_ + 1));
    std::copy_n(projections, count_, &triangle(0, count_));
    triangle(count_, count_) = length;
    inverse_diagonal_[count_] = 1 / length;
    orthonormal_.resize((count_ + 1) * stride_);
    std::transform(rest, rest + stride_, orthonormal_.begin() + static_cast<std::ptrdiff_t>(count_ * stride_),
                   [scale = 1 / length](double value) { return value * scale; });
    ++count_;
}

double Basis::erase(std::size_t k, double* projections, double* rest) {
    assert(k < count_);
    for (std::size_t column = k; column + 1 < count_; ++column) {
        std::copy_n(&triangle(0, column + 1), column + 2, &triangle(0, column));
    }
    --count_;
    // Each column from k on now has one entry below the diagonal; rotations of the basis remove it.
    for (std::size_t column = k; column < count_; ++column) {
        const double diagonal = triangle(column, column);
        const double below = triangle(column + 1, column);
        const double length = std::sqrt(diagonal * diagonal + below * below);
        const double cosine = length > 0 ? diagonal / length : 1.0;
        const double sine = length > 0 ? below / length : 0.0;
        triangle(column, column) = length;
        inverse_diagonal_[column] = 1 / length;
        for (std::size_t later = column + 1; later < count_; ++later) {
            const double upper = triangle(column, later);
            const double lower = triangle(column + 1, later);
            triangle(column, later) = cosine * upper + sine * lower;
            triangle(column + 1, later) = cosine * lower - sine * upper;
        }
        const double upper = projections[column];
        const double lower = projections[column + 1];
        projections[column] = cosine * upper + sine * lower;
        projections[column + 1] = cosine * lower - sine * upper;
        rotate(&orthonormal_[column * stride_], &orthonormal_[(column + 1) * stride_], cosine, sine, stride_);
    }
    const double moved = projections[count_];
    add_scaled(rest, moved, &orthonormal_[count_ * stride_], stride_);
    triangle_.resize(column_begin(count_));
    orthonormal_.resize(count_ * stride_);
    return moved * moved;
}

void Basis::shares(const double* projections, double* shares) const {
    std::copy_n(projections, count_, shares);
    for (std::size_t column = count_; column-- > 0;) {
        const double share = shares[column] * inverse_diagonal_[column];
        const double* entries = &triangle_[column_begin(column)];
        shares[column] = share;
        for (std::size_t row = 0; row < column; ++row) {
            shares[row] -= entries[row] * share;
        }
    }
}

void Basis::coordinates(const double* bounds, double* coordinates) const {
    for (std::size_t column = 0; column < count_; ++column) {
        double sum = bounds[column];
        for (std::size_t row = 0; row < column; ++row) {
            sum -= triangle(row, column) * coordinates[row];
        }
        coordinates[column] = sum * inverse_diagonal_[column];
    }
}

void Basis::add_to(const double* coordinates, double* vector) const {
    add_rows(orthonormal_.data(), count_, stride_, coordinates, vector);
}

}  // namespace hardmargin
