#include "directions/frame.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/kernels.h"

namespace hardmargin {

namespace {

// No reflection is needed if the squared distance of the first axis to the one it replaces is not above this.
constexpr double already_there = 1e-12;

}  // namespace

DirectionFrame::DirectionFrame(const Samples& samples, std::span<const double> first_axis, std::size_t mirrored)
    : dimension_(samples.dimension()),
      stride_(samples.stride()),
      axes_(dimension_ * stride_),
      coordinates_(samples.count() * dimension_) {
    assert(first_axis.empty() || (first_axis.size() == dimension_ && mirrored < dimension_));
    for (std::size_t k = 0; k < dimension_; ++k) {
        axes_[k * stride_ + k] = 1;
    }
    // A Householder reflection maps a unit vector to the first axis; then the two axes are swapped.
    double length = 0;
    for (const double entry : first_axis) {
        length = std::hypot(length, entry);
    }
    if (length > 0) {
        std::vector<double> mirror(stride_);
        for (std::size_t k = 0; k < dimension_; ++k) {
            mirror[k] = first_axis[k] / length;
        }
        mirror[mirrored] -= 1;
        const double squared = dot(mirror.data(), mirror.data(), stride_);
        for (std::size_t k = 0; squared > already_there && k < dimension_; ++k) {
            add_scaled(&axes_[k * stride_], -2 * mirror[k] / squared, mirror.data(), stride_);
        }
        if (mirrored > 0) {
            std::swap_ranges(&axes_[0], &axes_[stride_], &axes_[mirrored * stride_]);
        }
    }
    for (std::size_t k = 0; k < dimension_; ++k) {
        for (std::size_t i = 0; i < samples.count(); ++i) {
            coordinates_[i * dimension_ + k] = samples.label(i) * dot(axis(k), samples.row(i), stride_);
        }
    }
}

std::vector<ExtraRow> DirectionFrame::rows(const DirectionNode& region) const {
    assert(region.fits(dimension_));
    std::vector<ExtraRow> rows;
    const double* face = axis(region.face);
    const auto side_row = [&](std::size_t k, double sign, double share_of_face) {
        ExtraRow& made = rows.emplace_back(ExtraRow{std::vector<double>(stride_), 0.0});
        add_scaled(made.normal.data(), share_of_face * region.sign, face, stride_);
        add_scaled(made.normal.data(), sign, axis(k), stride_);
    };
    for (std::size_t k = 0; k < dimension_; ++k) {
        if (k != region.face) {
            side_row(k, -1, region.high[k] + rounding);
            side_row(k, 1, -(region.low[k] - rounding));
        }
    }
    // The lengths, measured along the shortest s.
    const double least = region.least_length();
    const auto length_row = [&](double sign, double bound) {
        ExtraRow& made = rows.emplace_back(ExtraRow{std::vector<double>(stride_), bound});
        for (std::size_t k = 0; k < dimension_; ++k) {
            add_scaled(made.normal.data(), sign * region.nearest(k) / least, axis(k), stride_);
        }
    };
    length_row(1, region.shortest * least / (least + region.bulge()) * (1 - rounding));
    length_row(-1, -region.longest * (1 + rounding));
    return rows;
}

void DirectionFrame::longest_middle(const DirectionNode& region, double* weights) const {
    assert(region.fits(dimension_));
    std::fill_n(weights, stride_, 0.0);
    double squared = 0;
    for (std::size_t k = 0; k < dimension_; ++k) {
        const double middle = 0.5 * (region.low[k] + region.high[k]);
        squared += middle * middle;
        add_scaled(weights, middle, axis(k), stride_);
    }
    const double factor = region.longest / std::sqrt(squared);
    std::for_each(weights, weights + stride_, [factor](double& weight) { weight *= factor; });
}

std::vector<DirectionNode> DirectionFrame::whole(double longest, double upper) const {
    std::vector<DirectionNode> faces;
    for (std::uint32_t face = 0; face < dimension_; ++face) {
        for (const double sign : {1.0, -1.0}) {
            DirectionNode node{
                face, sign, std::vector<double>(dimension_, -1.0), std::vector<double>(dimension_, 1.0), 0, longest,
                0,    upper};
            node.low[face] = node.high[face] = sign;
            faces.push_back(std::move(node));
        }
    }
    return faces;
}

}  // namespace hardmargin
