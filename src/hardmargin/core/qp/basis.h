// A QR factorisation of linearly independent vectors v_k, v = triangle^T basis with an orthonormal basis and an
// upper triangle, updated as vectors are appended and removed.
#pragma once

#include <cstddef>
#include <vector>

#include "base/aligned.h"

namespace hardmargin {

class Basis {
public:
    Basis() = default;
    // Vectors have `dimension` entries, padded with zeros to `stride`.
    Basis(std::size_t dimension, std::size_t stride);

    std::size_t count() const { return count_; }
    void clear();

    // Splits `vector` into its part in the span, sum_k projections[k] basis[k], and the `rest` orthogonal to it.
    // Returns the squared length of the rest. Projects twice, so that the rest is orthogonal to working precision.
    double split(const double* vector, double* projections, double* rest);
    // Appends the vector that split() was called with. Its rest must not be zero, and the basis must not be full.
    void append(const double* projections, const double* rest, double squared_length);
    // Removes vector k; later ones move up. Updates the split() of another vector: its component along the
    // direction that leaves the span moves from `projections` (dimension + 1 entries) to `rest`. Returns by how
    // much the squared length of the rest grows.
    double erase(std::size_t k, double* projections, double* rest);

    // Computes shares with sum_k shares[k] v_k = sum_k projections[k] basis[k].
    void shares(const double* projections, double* shares) const;
    // Computes the coordinates in the basis of the vector u in the span with v_k . u = bounds[k].
    void coordinates(const double* bounds, double* coordinates) const;
    // vector += sum_k coordinates[k] basis[k]
    void add_to(const double* coordinates, double* vector) const;

private:
    // Column k has k + 2 entries: erase() needs one below the diagonal.
    static std::size_t column_begin(std::size_t column) { return column * (column + 3) / 2; }
    double& triangle(std::size_t row, std::size_t column) { return triangle_[column_begin(column) + row]; }
    double triangle(std::size_t row, std::size_t column) const { return triangle_[column_begin(column) + row]; }

    std::size_t stride_ = 0;
    std::size_t count_ = 0;
    AlignedVector<double> orthonormal_;  // count x stride
    std::vector<double> triangle_;       // by columns
    std::vector<double> inverse_diagonal_;
    std::vector<double> correction_;
};

}  // namespace hardmargin
