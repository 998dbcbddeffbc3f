// Random numbers that do not depend on the machine or the standard library, except for the last digits of normal().
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hardmargin {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    // SplitMix64: every seed, including zero, gives a full-period stream.
    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }

    // In [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // In [0, count); count > 0. The modulo bias is below 2^-32 for every count that occurs.
    std::size_t below(std::size_t count) {
        assert(count > 0);
        return static_cast<std::size_t>(next() % count);
    }

    // Standard normal.
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(two_pi * uniform());
    }

    template <typename Value>
    void shuffle(std::vector<Value>& values) {
        for (std::size_t i = values.size(); i > 1; --i) {
            std::swap(values[i - 1], values[below(i)]);
        }
    }

private:
    static constexpr double two_pi = 6.283185307179586;

    std::uint64_t state_;
};

}  // namespace hardmargin
