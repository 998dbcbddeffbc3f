// Shared by the bindings: arrays, and searches that Python observes and may interrupt.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/samples.h"

namespace hardmargin {

namespace nb = nanobind;
using namespace nb::literals;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline std::span<const double> view(const Matrix& matrix) {
    return {matrix.data(), matrix.size()};
}

inline std::span<const double> view(const Vector& vector) {
    return {vector.data(), vector.size()};
}

// A Python array that owns these values.
template <typename Value>
nb::ndarray<nb::numpy, Value> array(std::vector<Value> values, std::initializer_list<std::size_t> shape) {
    auto* const kept = new std::vector<Value>(std::move(values));
    const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<Value>*>(pointer); });
    return nb::ndarray<nb::numpy, Value>(kept->data(), shape, owner);
}

// The bounds on the weights that a problem has, if any: two numbers per feature.
using Bounds = std::optional<std::pair<Vector, Vector>>;

inline WeightBounds bounds_of(const Bounds& bounds) {
    if (!bounds) {
        return {};
    }
    const std::span<const double> lower = view(bounds->first);
    const std::span<const double> upper = view(bounds->second);
    return {{lower.begin(), lower.end()}, {upper.begin(), upper.end()}};
}

// Calls a Python function `observer(upper, lower, nodes) -> bool` from a search that runs without the GIL, and lets
// Python's signal handlers run. An exception, including KeyboardInterrupt, ends the search and is stored, so that
// what was found so far is not lost.
class Watcher {
public:
    explicit Watcher(nb::object observer) : observer_(std::move(observer)) {}

    Control::Observer function() {
        return [this](const Progress& progress) { return ask(progress); };
    }

    // The exception that ended the search, or None.
    nb::object error() const { return error_; }

private:
    bool ask(const Progress& progress) {
        const nb::gil_scoped_acquire lock;
        try {
            if (PyErr_CheckSignals() != 0) {
                throw nb::python_error();
            }
            return observer_.is_none() || nb::cast<bool>(observer_(progress.upper, progress.lower, progress.nodes));
        } catch (nb::python_error& raised) {
            error_ = nb::borrow(raised.value());
            return false;
        }
    }

    nb::object observer_;
    nb::object error_ = nb::none();
};

struct Outcome {
    bool timed_out;
    bool interrupted;
    nb::object error;
};

// Runs `function(control)` without the GIL, under observation.
template <typename Function>
Outcome watched(double seconds, nb::object observer, Function&& function) {
    Watcher watcher(std::move(observer));
    Control control(seconds, watcher.function());
    {
        const nb::gil_scoped_release unlocked;
        function(control);
    }
    return {control.timed_out(), control.interrupted(), watcher.error()};
}

}  // namespace hardmargin
