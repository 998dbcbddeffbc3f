#include "packing/set_sums.h"

#include <cassert>

namespace hardmargin {

void SetSums::clear() {
    groups_.clear();
    numbers_.clear();
    items_.clear();
}

void SetSums::make_room() {
    std::size_t place = 0;
    std::size_t first_item = 0;
    for (std::size_t units = 0; units < groups_.size(); ++units) {
        groups_[units].place = place;
        groups_[units].first_item = first_item;
        place += groups_[units].count;
        first_item += groups_[units].count * units * unit;
    }
    numbers_.resize(place);
    items_.assign(first_item, no_item_);
}

std::span<const double> SetSums::compute(std::span<const double> values) {
    assert(values.size() > no_item_ && values[no_item_] == 0);
    sums_.resize(numbers_.size());
    const double* const value_of = values.data();
    const std::uint32_t* item = items_.data();
    double* out = sums_.data();
    for (std::size_t units = 0; units < groups_.size(); ++units) {
        for (std::size_t left = groups_[units].count; left > 0; --left) {
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
