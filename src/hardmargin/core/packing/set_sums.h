// Sums of values over many sets, which are computed again and again.
//
// The sets are copied one after the other in the order of their sizes, and padded with an item whose value is 0. So
// memory is read in order, and the loop over the members of a set mostly takes as many steps as that of the set
// before.
#pragma once

#include <algorithm>
#include <cassert>
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
    // Copies these sets, which must not be its own numbers(); items_of(number) returns the items of one.
    template <typename ItemsOf>
    void assign(std::span<const std::uint32_t> numbers, const ItemsOf& items_of);

    // The numbers of the sets, and the sum of the values of each; the sums are valid until the next call.
    std::span<const std::uint32_t> numbers() const { return numbers_; }
    std::span<const double> compute(std::span<const double> values);

    std::size_t memory() const {
        return items_.size() * sizeof(items_[0]) + numbers_.size() * (sizeof(numbers_[0]) + sizeof(sums_[0]));
    }

private:
    // Members are added up in this many independent sums.
    static constexpr std::size_t unit = 4;
    static std::size_t units_for(std::size_t size) { return (size + unit - 1) / unit; }

    // The sets of one size, and where the next one of them is copied to.
    struct Group {
        std::size_t count = 0;
        std::size_t place = 0;
        std::size_t first_item = 0;
    };

    // Makes room for the sets that were counted in groups_.
    void make_room();

    std::uint32_t no_item_;
    std::vector<Group> groups_;  // by units
    std::vector<std::uint32_t> numbers_;
    std::vector<std::uint32_t> items_;
    std::vector<double> sums_;
};

template <typename ItemsOf>
void SetSums::assign(std::span<const std::uint32_t> numbers, const ItemsOf& items_of) {
    assert(numbers.empty() || numbers.data() != numbers_.data());
    clear();
    for (const std::uint32_t number : numbers) {
        const std::size_t units = units_for(items_of(number).size());
        groups_.resize(std::max(groups_.size(), units + 1));
        ++groups_[units].count;
    }
    make_room();
    for (const std::uint32_t number : numbers) {
        const std::span<const std::uint32_t> items = items_of(number);
        const std::size_t units = units_for(items.size());
        Group& group = groups_[units];
        numbers_[group.place++] = number;
        std::copy(items.begin(), items.end(), items_.data() + group.first_item);
        group.first_item += units * unit;
    }
}

}  // namespace hardmargin
