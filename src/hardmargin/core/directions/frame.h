// Orthogonal axes for directions, of which the first one is given, and the samples' coordinates in them.
//
// The coordinates are rounded. Conclusions from them must allow for an error of `rounding` times the size of what
// is compared. Nothing relies on the axes being exactly orthogonal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/samples.h"
#include "directions/node.h"
#include "qp/rows.h"

namespace hardmargin {

class DirectionFrame {
public:
    static constexpr double rounding = 1e-11;

    // The first axis replaces the axis of feature `mirrored`. The other axes are reflected accordingly, and change
    // the less the closer the first axis is to the one it replaces. A zero or empty `first_axis` leaves the
    // coordinates unchanged; otherwise it must have Samples::dimension() entries.
    DirectionFrame(const Samples& samples, std::span<const double> first_axis, std::size_t mirrored);

    std::size_t dimension() const { return dimension_; }
    const double* axis(std::size_t k) const { return axes_.data() + k * stride_; }
    // Coordinate k of sample i.
    double coordinate(std::size_t i, std::size_t k) const { return coordinates_[i * dimension_ + k]; }

    // The region's sides as rows of the max-margin problem; the region is widened by its rounding error.
    std::vector<ExtraRow> rows(const DirectionNode& region) const;
    // The longest w along the middle of a region's box, of Samples::stride() entries.
    void longest_middle(const DirectionNode& region, double* weights) const;
    // The 2 m faces, which contain all directions, with lengths up to `longest`; the face of the first axis is
    // first.
    std::vector<DirectionNode> whole(double longest, double upper) const;

private:
    std::size_t dimension_;
    std::size_t stride_;
    std::vector<double> axes_;
    std::vector<double> coordinates_;
};

}  // namespace hardmargin
