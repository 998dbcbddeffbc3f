// Decides from observation whether a search over directions looks for must-hit sets in its regions.
//
// Sets close regions that would otherwise be split, but cost work in all regions. Which effect is larger depends on
// the data, the number of features and the progress of the search. So some slices are searched both ways, less
// often the longer the same way has been better. The better way closes a larger share of the slice's region for the
// same work; each part of a split counts as half. The ways are compared on the same slice, because slices differ
// by far more.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hardmargin {

class RegionPackingChoice {
public:
    // Begins a slice; whether it should be searched both ways.
    bool compares() {
        if (slices_left_ > 0) {
            --slices_left_;
            return false;
        }
        slices_left_ = slices_between_ - 1;
        return true;
    }
    bool packs() const { return preference_ > 0; }
    // The share of a slice that was closed without and with sets, and the work it took.
    void observe(double share_without, double work_without, double share_with, double work_with) {
        const double without = share_without * work_with;
        const double with = share_with * work_without;
        if (!(with + without > 0)) {
            return;
        }
        slices_between_ = packs() == (with > without) ? std::min(2 * slices_between_, most_between) : least_between;
        slices_left_ = slices_between_ - 1;
        preference_ = memory * preference_ + (with - without) / (with + without);
    }

private:
    static constexpr std::uint64_t slices_before = 3;
    // A comparison costs about one slice, which is little compared with this many.
    static constexpr std::uint64_t least_between = 16;
    static constexpr std::uint64_t most_between = 128;
    // Older observations count less.
    static constexpr double memory = 0.8;

    std::uint64_t slices_left_ = slices_before;
    std::uint64_t slices_between_ = least_between;
    double preference_ = 0;
};

}  // namespace hardmargin
