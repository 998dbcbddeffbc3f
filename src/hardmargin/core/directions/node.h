// An open region of hyperplane directions and lengths, as plain data: enough to continue it anywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hardmargin {

// Hyperplanes with w = t (s_0 q_0 + s_1 q_1 + ...), where the q_k are the axes of a DirectionFrame: s lies on the
// surface of the cube, s[face] = sign, in the box low <= s <= high, and shortest <= ||w|| <= longest.
struct DirectionNode {
    std::uint32_t face = 0;
    double sign = 1;
    std::vector<double> low;
    std::vector<double> high;
    double shortest = 0;
    double longest = 0;
    // No hyperplane of the region costs less than the minimum of `bound` and `upper`: parts of the region were
    // excluded only for solutions better than `upper`, from which the gap is already subtracted.
    double bound = 0;
    double upper = 0;
    // Its number in a proof (tree/proof_sink.h).
    std::uint64_t proof = 0;

    // Whether it is a box on a face of the cube of this dimension.
    bool fits(std::size_t dimension) const {
        return face < dimension && low.size() == dimension && high.size() == dimension && low[face] == sign &&
               high[face] == sign && std::fabs(sign) == 1;
    }

    std::size_t size_in_memory() const {
        return sizeof(*this) + sizeof(double) * (low.capacity() + high.capacity());
    }

    // Coordinate k of the shortest s in the box.
    double nearest(std::size_t k) const { return low[k] > 0 ? low[k] : high[k] < 0 ? high[k] : 0; }

    // The length of the shortest s.
    double least_length() const {
        double sum = 0;
        for (std::size_t k = 0; k < low.size(); ++k) {
            sum += nearest(k) * nearest(k);
        }
        return std::sqrt(sum);
    }

    // The length of the longest s.
    double greatest_length() const {
        double sum = 0;
        for (std::size_t k = 0; k < low.size(); ++k) {
            sum += std::max(low[k] * low[k], high[k] * high[k]);
        }
        return std::sqrt(sum);
    }

    // With a the unit vector along the shortest s, every s in the box has ||s|| >= a.s >= least_length(), and
    // ||s|| <= a.s + bulge().
    double bulge() const {
        double squared_distance = 0;
        for (std::size_t k = 0; k < low.size(); ++k) {
            const double distance = std::max(high[k] - nearest(k), nearest(k) - low[k]);
            squared_distance += distance * distance;
        }
        return squared_distance / (2 * least_length());
    }
};

}  // namespace hardmargin
