// Orthogonal axes for directions, the first one given, and the samples' coordinates in them.
//
// The coordinates are rounded. Whoever draws conclusions from them allows for `rounding` times the size of what is
// compared; nothing relies on the axes being orthogonal to the last digit.
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

    // The first axis takes the place of the one of feature `mirrored`, and the others are turned accordingly, the
    // less the more of it was in that place. A zero or empty `first_axis` leaves the coordinates as they are;
    // another one must have Samples::dimension() entries.
    DirectionFrame(const Samples& samples, std::span<const double> first_axis, std::size_t mirrored);

    std::size_t dimension() const { return dimension_; }
    const double* axis(std::size_t k) const { return axes_.data() + k * stride_; }
    // Coordinate k of sample i.
    double coordinate(std::size_t i, std::size_t k) const { return coordinates_[i * dimension_ + k]; }

    // The region's rows for the max-margin solver; the region is widened by its rounding.
    std::vector<ExtraRow> rows(const DirectionNode& region) const;
    // The longest w along the middle of a region's box, of Samples::stride() entries.
    void longest_middle(const DirectionNode& region, double* weights) const;
    // The 2 m faces that hold all directions, with lengths up to `longest`, the face of the first axis first.
    std::vector<DirectionNode> whole(double longest, double upper) const;

private:
    std::size_t dimension_;
    std::size_t stride_;
    std::vector<double> axes_;
    std::vector<double> coordinates_;
};

}  // namespace hardmargin
