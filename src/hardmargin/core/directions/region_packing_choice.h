// Whether a search over directions looks for must-hit sets in its regions, by what has been observed.
//
// Sets close regions that would have to be split, and take work in all of them. Which counts for more depends on
// the data, on how many features there are and on how far the search is; so now and then a slice is searched both
// ways, the less often the longer the same way has been the better one. That way closes a larger share of the
// slice's region for the same effort, where each split leaves a half to each of its parts. The ways are compared
// slice by slice, because slices differ by far more.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hardmargin {

class RegionPackingChoice {
public:
    // Begins a slice; whether it is to be searched both ways.
    bool compares() {
        if (slices_left_ > 0) {
            --slices_left_;
            return false;
        }
        slices_left_ = slices_between_ - 1;
        return true;
    }
    bool packs() const { return preference_ > 0; }
    // What a slice closed without looking for sets and with it, and the effort that it took.
    void observe(double share_without, double effort_without, double share_with, double effort_with) {
        const double without = share_without * effort_with;
        const double with = share_with * effort_without;
        if (!(with + without > 0)) {
            return;
        }
        slices_between_ = packs() == (with > without) ? std::min(2 * slices_between_, most_between) : least_between;
        slices_left_ = slices_between_ - 1;
        preference_ = memory * preference_ + (with - without) / (with + without);
    }

private:
    static constexpr std::uint64_t slices_before = 3;
    // Comparing costs about a slice: one in so many is little.
    static constexpr std::uint64_t least_between = 16;
    static constexpr std::uint64_t most_between = 128;
    // What was observed long ago counts for less.
    static constexpr double memory = 0.8;

    std::uint64_t slices_left_ = slices_before;
    std::uint64_t slices_between_ = least_between;
    double preference_ = 0;
};

}  // namespace hardmargin
