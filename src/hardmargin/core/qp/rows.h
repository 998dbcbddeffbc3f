// The numbers of the rows of the max-margin problem. Only this file knows how they are laid out.
//
// A row requires a . w + c b >= d. With n samples,
//
//     row i       keeps sample i:          a = y x, c = y, d = 1;
//     row n + i   is the flip of sample i: -a, -c, -d, which keeps the sample at or inside its margin;
//     row 2n + j  is extra row j:          any a and d, and c = 0. The bounds on the weights come first.
//
// So the row that keeps a sample has the same number as the sample.
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/kernels.h"
#include "base/samples.h"

namespace hardmargin {

// A row a . w >= d without bias, in addition to those of the samples. Bounds on weights are such rows too, with
// normals that need no memory.
struct ExtraRow {
    std::vector<double> normal;  // of Samples::stride() entries; empty: `sign` times the unit vector of `feature`
    double bound;
    std::size_t feature = 0;
    double sign = 0;

    double product(const double* weights) const {
        return normal.empty() ? sign * weights[feature] : dot(normal.data(), weights, normal.size());
    }
    // vector += factor * a
    void add_to(double* vector, double factor) const {
        if (normal.empty()) {
            vector[feature] += factor * sign;
        } else {
            add_scaled(vector, factor, normal.data(), normal.size());
        }
    }
    double length() const {
        return normal.empty() ? 1.0 : std::sqrt(dot(normal.data(), normal.data(), normal.size()));
    }
};

// The finite bounds on the weights as rows.
inline std::vector<ExtraRow> weight_rows(const WeightBounds& bounds) {
    std::vector<ExtraRow> rows;
    for (std::size_t k = 0; k < bounds.lower.size(); ++k) {
        if (std::isfinite(bounds.lower[k])) {
            rows.push_back({{}, bounds.lower[k], k, 1.0});
        }
        if (std::isfinite(bounds.upper[k])) {
            rows.push_back({{}, -bounds.upper[k], k, -1.0});
        }
    }
    return rows;
}

class RowNumbers {
public:
    explicit RowNumbers(std::size_t sample_count) : sample_count_(sample_count) {}

    std::size_t flip(std::size_t sample) const {
        assert(sample < sample_count_);
        return sample_count_ + sample;
    }
    std::size_t extra(std::size_t index) const { return sample_rows() + index; }
    // How many rows keep or flip a sample; the extra rows follow.
    std::size_t sample_rows() const { return 2 * sample_count_; }

    bool keeps(std::size_t row) const { return row < sample_count_; }
    bool is_flip(std::size_t row) const { return !keeps(row) && row < sample_rows(); }
    bool is_extra(std::size_t row) const { return row >= sample_rows(); }

    // The sample that a row keeps or flips.
    std::size_t sample(std::size_t row) const {
        assert(!is_extra(row));
        return keeps(row) ? row : row - sample_count_;
    }
    // What the normal, the bias coefficient and the bound of a kept sample are multiplied with: 1, or -1 for a
    // flip.
    double sign(std::size_t row) const {
        assert(!is_extra(row));
        return keeps(row) ? 1.0 : -1.0;
    }
    std::size_t extra_index(std::size_t row) const {
        assert(is_extra(row));
        return row - sample_rows();
    }

private:
    std::size_t sample_count_;
};

// The c of a row: 1, -1 or 0.
inline double bias_coefficient(const Samples& samples, std::size_t row) {
    const RowNumbers numbers(samples.count());
    return numbers.is_extra(row) ? 0.0 : numbers.sign(row) * samples.label(numbers.sample(row));
}

}  // namespace hardmargin
