// Sums of values over many sets, which are computed again and again.
//
// The sets are copied one after the other, by size, and filled up with an item without value: so memory is read in
// order, and the loop over the members of a set takes as many steps as that of the set before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hardmargin {

class SetSums {
public:
    // `no_item` is the number of an item whose value is always 0.
    explicit SetSums(std::uint32_t no_item) : no_item_(no_item) {}

    bool empty() const { return numbers_.empty(); }
    std::size_t size() const { return numbers_.size(); }
    void clear();
    // Copies these sets; items_of(number) returns the items of one.
    template <typename ItemsOf>
    void assign(std::span<const std::uint32_t> numbers, const ItemsOf& items_of);

    // The numbers of the sets, and the sum of the values of each.
    std::span<const std::uint32_t> numbers() const { return numbers_; }
    std::span<const double> compute(std::span<const double> values);

private:
    // Members are added up in this many independent sums.
    static constexpr std::size_t unit = 4;
    static std::size_t units_for(std::size_t size) { return (size + unit - 1) / unit; }

    std::uint32_t no_item_;
    std::vector<std::uint32_t> numbers_;
    std::vector<std::size_t> counts_;  // of the sets that take so many units
    std::vector<std::size_t> places_;
    std::vector<std::uint32_t> items_;
    std::vector<double> sums_;
};

template <typename ItemsOf>
void SetSums::assign(std::span<const std::uint32_t> numbers, const ItemsOf& items_of) {
    clear();
    for (const std::uint32_t number : numbers) {
        const std::size_t units = units_for(items_of(number).size());
        if (units >= counts_.size()) {
            counts_.resize(units + 1);
        }
        ++counts_[units];
    }
    // Where the next set of each size begins: its place, and that of its first item.
    std::size_t place = 0;
    std::size_t item_place = 0;
    places_.clear();
    for (std::size_t units = 0; units < counts_.size(); ++units) {
        places_.push_back(place);
        places_.push_back(item_place);
        place += counts_[units];
        item_place += counts_[units] * units * unit;
    }
    numbers_.resize(numbers.size());
    items_.assign(item_place, no_item_);
    for (const std::uint32_t number : numbers) {
        const std::span<const std::uint32_t> items = items_of(number);
        const std::size_t units = units_for(items.size());
        numbers_[places_[2 * units]++] = number;
        std::copy(items.begin(), items.end(), items_.data() + places_[2 * units + 1]);
        places_[2 * units + 1] += units * unit;
    }
}

}  // namespace hardmargin
