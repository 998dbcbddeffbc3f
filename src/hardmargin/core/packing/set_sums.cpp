#include "packing/set_sums.h"

#include <cassert>

namespace hardmargin {

void SetSums::clear() {
    numbers_.clear();
    counts_.clear();
    items_.clear();
}

std::span<const double> SetSums::compute(std::span<const double> values) {
    assert(values.size() > no_item_ && values[no_item_] == 0);
    sums_.resize(numbers_.size());
    const double* const value_of = values.data();
    const std::uint32_t* item = items_.data();
    double* out = sums_.data();
    for (std::size_t units = 0; units < counts_.size(); ++units) {
        for (std::size_t left = counts_[units]; left > 0; --left) {
            double sums[unit] = {};
            for (const std::uint32_t* const end = item + units * unit; item != end; item += unit) {
                for (std::size_t k = 0; k < unit; ++k) {
                    sums[k] += value_of[item[k]];
                }
            }
            *out++ = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
    }
    return sums_;
}

}  // namespace hardmargin
