// The basis of CoverLp: inversion, and the four kinds of pivot.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/kernels.h"
#include "packing/cover_lp.h"

namespace hardmargin {

namespace {

// Costs are scaled to one, so these are absolute.
constexpr double smallest_pivot = 1e-7;
constexpr double feasibility_tolerance = 1e-9;
// Rows of the inverse are padded to multiples of the first; the second is the initial capacity.
constexpr std::size_t row_unit = 16;
constexpr std::size_t first_stride = 64;

}  // namespace

// Allocates an inverse of this size without setting its entries.
void CoverLp::make_room(std::size_t size) {
    if (size > stride_) {
        stride_ = padded_size(size + size / 2, row_unit);
        inverse_.resize(stride_ * stride_);
    }
}

// Gauss-Jordan in place: one row per set, one column per item, so that the rows of the inverse belong to items.
bool CoverLp::invert() {
    const std::size_t size = basis_.sets.size();
    age_ = 0;
    make_room(size);
    std::vector<std::size_t> single(size, nowhere);  // by columns, the row of the set with only this item
    for (std::size_t k = 0; k < size; ++k) {
        std::fill_n(row_of(k), size, 0.0);
        const auto members = items(basis_.sets[k]);
        for (const std::uint32_t item : members) {
            if (place_of_item_[item] != nowhere) {
                row_of(k)[place_of_item_[item]] = 1;
            }
        }
        if (members.size() == 1 && place_of_item_[members[0]] != nowhere) {
            single[place_of_item_[members[0]]] = k;
        }
    }
    std::vector<std::size_t> row_of_column(size, nowhere);  // no row is moved before the end
    std::vector<unsigned char> used(size);
    std::size_t dense = 0;
    for (std::size_t column = 0; column < size; ++column) {
        if (stop_()) {
            return false;
        }
        std::size_t pivot = single[column];
        if (pivot == nowhere) {
            double largest = 0;
            for (std::size_t row = 0; row < size; ++row) {
                const double value = std::fabs(row_of(row)[column]);
                if (!used[row] && value > largest) {
                    largest = value;
                    pivot = row;
                }
            }
            if (!(largest >= smallest_pivot)) {
                return false;
            }
        }
        used[pivot] = 1;
        row_of_column[column] = pivot;
        double* pivot_row = row_of(pivot);
        // The row of a set with one item is a unit vector: no other step has changed it.
        const bool alone = single[column] != nowhere;
        if (!alone) {
            ++dense;
            const double value = std::exchange(pivot_row[column], 1.0);
            for (std::size_t k = 0; k < size; ++k) {
                pivot_row[k] /= value;
            }
        }
        for (std::size_t row = 0; row < size; ++row) {
            double* other = row_of(row);
            const double factor = other[column];
            if (row == pivot || factor == 0) {
                continue;
            }
            other[column] = alone ? -factor : 0.0;
            if (!alone) {
                add_scaled(other, -factor, pivot_row, size);
            }
        }
    }
    scratch_.resize(size * size);
    for (std::size_t k = 0; k < size; ++k) {
        const double* row = row_of(row_of_column[k]);
        for (std::size_t j = 0; j < size; ++j) {
            scratch_[k * size + row_of_column[j]] = row[j];
        }
    }
    for (std::size_t k = 0; k < size; ++k) {
        std::copy_n(&scratch_[k * size], size, row_of(k));
    }
    work_ += dense * size * size + size * size;
    return true;
}

bool CoverLp::recompute() {
    const std::size_t size = basis_.sets.size();
    packing_.assign(size, 0.0);
    std::fill(loads_.begin(), loads_.end(), 0.0);
    std::fill(values_.begin(), values_.end(), 0.0);
    for (std::size_t place = 0; place < size; ++place) {
        const double* row = row_of(place);
        add_scaled(packing_.data(), capacities_[basis_.items[place]], row, size);
        values_[basis_.items[place]] = std::accumulate(row, row + size, 0.0);
    }
    for (std::size_t k = 0; k < size; ++k) {
        if (!(packing_[k] >= -feasibility_tolerance)) {
            return false;
        }
        packing_[k] = std::max(packing_[k], 0.0);
        for (const std::uint32_t item : items(basis_.sets[k])) {
            loads_[item] += packing_[k];
        }
    }
    for (std::size_t item = 0; item < item_count(); ++item) {
        if (!excluded_[item] && !(loads_[item] <= capacities_[item] + feasibility_tolerance)) {
            return false;
        }
    }
    return true;
}

// The item's row of the matrix times the inverse: one number per item of the basis.
void CoverLp::combine_columns_of(std::size_t item) {
    const std::size_t size = basis_.sets.size();
    combined_.assign(size, 0.0);
    for (std::size_t k = 0; k < size; ++k) {
        const auto members = items(basis_.sets[k]);
        if (std::find(members.begin(), members.end(), item) != members.end()) {
            for (std::size_t place = 0; place < size; ++place) {
                combined_[place] += row_of(place)[k];
            }
        }
    }
}

// values -= factor * combined_, by places
void CoverLp::lower_values(double factor) {
    for (std::size_t place = 0; place < combined_.size(); ++place) {
        values_[basis_.items[place]] -= factor * combined_[place];
    }
}

void CoverLp::change_rows(double sign, const double* values) {
    const std::size_t size = basis_.sets.size();
    row_change_.assign(padded_size(size), 0.0);
    std::transform(values, values + size, row_change_.begin(), [sign](double value) { return sign * value; });
    update_rows(inverse_.data(), size, stride_, combined_.data(), row_change_.data(), padded_size(size));
}

void CoverLp::replace_set(std::size_t leaving, std::uint32_t set, double lack) {
    const std::size_t size = basis_.sets.size();
    const double pivot = std::exchange(decreases_[leaving], 0.0);
    combined_.resize(size);
    for (std::size_t place = 0; place < size; ++place) {
        combined_[place] = row_of(place)[leaving] / pivot;
    }
    change_rows(-1, decreases_.data());
    for (std::size_t place = 0; place < size; ++place) {
        row_of(place)[leaving] = combined_[place];
    }
    lower_values(-lack);
    basis_.sets[leaving] = set;
}

void CoverLp::append(std::uint32_t set, std::uint32_t item, double lack) {
    const std::size_t size = basis_.sets.size();
    combine_columns_of(item);
    const double pivot = load_changes_[item];
    lower_values(lack / pivot);
    values_[item] = lack / pivot;
    if (size == stride_) {
        widen();
    }
    for (double& factor : combined_) {
        factor /= pivot;
    }
    change_rows(1, decreases_.data());
    for (std::size_t place = 0; place < size; ++place) {
        row_of(place)[size] = -combined_[place];
    }
    double* last = row_of(size);
    for (std::size_t k = 0; k < size; ++k) {
        last[k] = -decreases_[k] / pivot;
    }
    last[size] = 1 / pivot;
    basis_.sets.push_back(set);
    basis_.items.push_back(item);
    place_of_item_[item] = size;
}

void CoverLp::widen() {
    const std::size_t wider = std::max(2 * stride_, first_stride);
    AlignedVector<double> inverse(wider * wider);
    for (std::size_t place = 0; place < stride_; ++place) {
        std::copy_n(row_of(place), stride_, inverse.data() + place * wider);
    }
    inverse_ = std::move(inverse);
    stride_ = wider;
}

void CoverLp::remove(std::size_t set_place, std::size_t item_place) {
    const std::size_t size = basis_.sets.size();
    const double pivot = row_of(item_place)[set_place];
    const std::uint32_t item = basis_.items[item_place];
    combined_.resize(size);
    for (std::size_t place = 0; place < size; ++place) {
        combined_[place] = place == item_place ? 0.0 : row_of(place)[set_place] / pivot;
    }
    change_rows(-1, row_of(item_place));
    lower_values(values_[item]);
    values_[item] = 0;
    place_of_item_[item] = nowhere;
    const std::size_t last = size - 1;
    if (item_place != last) {
        std::copy_n(row_of(last), size, row_of(item_place));
        basis_.items[item_place] = basis_.items[last];
        place_of_item_[basis_.items[item_place]] = item_place;
    }
    if (set_place != last) {
        for (std::size_t place = 0; place < last; ++place) {
            row_of(place)[set_place] = row_of(place)[last];
        }
        basis_.sets[set_place] = basis_.sets[last];
        packing_[set_place] = packing_[last];
    }
    basis_.sets.pop_back();
    basis_.items.pop_back();
    packing_.pop_back();
}

void CoverLp::replace_item(std::size_t leaving, std::uint32_t item) {
    const std::size_t size = basis_.sets.size();
    combine_columns_of(item);
    double* pivot_row = row_of(leaving);
    const double pivot = combined_[leaving];
    combined_[leaving] = 0;
    for (std::size_t k = 0; k < size; ++k) {
        pivot_row[k] /= pivot;
    }
    change_rows(-1, pivot_row);
    const std::uint32_t old = basis_.items[leaving];
    const double value = values_[old] / pivot;
    lower_values(value);
    values_[old] = 0;
    values_[item] = value;
    place_of_item_[old] = nowhere;
    basis_.items[leaving] = item;
    place_of_item_[item] = leaving;
}

}  // namespace hardmargin
