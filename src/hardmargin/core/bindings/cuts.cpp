#include "bindings/cuts.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/samples.h"
#include "bindings/shared.h"
#include "literature/cut_oracle.h"
#include "literature/soft_margin.h"

namespace hardmargin {

namespace {

using Members = std::vector<std::size_t>;

// A CutOracle that owns its samples.
class OwningCutOracle {
public:
    OwningCutOracle(const Matrix& features, const Vector& labels, WeightRegion region, double radius)
        : samples_(view(features), view(labels), std::vector<double>(labels.size(), 1.0)),
          oracle_(samples_, region, checked(radius)) {
        oracle_.set_stop([this] { return stopped_.load(); });
    }
    OwningCutOracle(const OwningCutOracle&) = delete;
    OwningCutOracle& operator=(const OwningCutOracle&) = delete;

    // May be called while another thread is in separate(), which then returns soon with what it has found.
    void stop() { stopped_ = true; }

    std::pair<std::vector<Members>, bool> separate(const Vector& values, double zero, std::size_t most) {
        if (values.size() != samples_.count()) {
            throw nb::value_error("separate: expected a value for every sample");
        }
        std::vector<unsigned char> asked(samples_.count());
        for (std::size_t i = 0; i < asked.size(); ++i) {
            asked[i] = values.data()[i] < zero;
        }
        const nb::gil_scoped_release unlocked;
        std::vector<Members> cuts;
        auto answer = CutOracle::Answer::impossible;
        while (!stopped_ && answer == CutOracle::Answer::impossible && (most == 0 || cuts.size() < most)) {
            answer = oracle_.separate(asked);
            if (answer == CutOracle::Answer::impossible) {
                cuts.emplace_back(oracle_.members().begin(), oracle_.members().end());
                for (const std::size_t member : cuts.back()) {
                    asked[member] = 0;
                }
            }
        }
        return {std::move(cuts), answer == CutOracle::Answer::possible};
    }

private:
    static double checked(double radius) {
        if (!(radius * radius > 0)) {
            throw nb::value_error("radius: expected a positive number, not too small to be squared");
        }
        return radius;
    }

    Samples samples_;
    CutOracle oracle_;
    std::atomic<bool> stopped_ = false;
};

}  // namespace

void bind_cuts(nb::module_& module) {
    nb::enum_<WeightRegion>(module, "WeightRegion", "The hyperplanes for which a cut holds.")
        .value("unbounded", WeightRegion::unbounded)
        .value("box", WeightRegion::box)
        .value("ball", WeightRegion::ball);
    nb::class_<OwningCutOracle>(module, "CutOracle",
                                "Minimal sets of samples that no hyperplane of a region keeps together.")
        .def(nb::init<const Matrix&, const Vector&, WeightRegion, double>(), "features"_a, "labels"_a, "region"_a,
             "radius"_a)
        .def("stop", &OwningCutOracle::stop,
             "End a call of separate() in another thread soon, and later calls immediately.")
        .def("separate", &OwningCutOracle::separate, "values"_a, "zero"_a, "most"_a = 0,
             "Disjoint sets among the samples with a value below `zero`, at most `most` (0: no limit), and whether "
             "the rest of these samples can be kept together.");
    module.def(
        "soft_margin",
        [](const Matrix& features, const Vector& labels, const Vector& costs, double tolerance, double seconds,
           nb::object observer) {
            const Samples samples(view(features), view(labels), view(costs));
            Hyperplane found;
            Outcome outcome = watched(seconds, std::move(observer),
                                      [&](Control& control) { found = soft_margin(samples, tolerance, control); });
            found.weights.resize(samples.dimension());
            return std::make_tuple(std::move(found.weights), found.bias, std::move(outcome));
        },
        "features"_a, "labels"_a, "costs"_a, "tolerance"_a, "seconds"_a, "observer"_a.none(),
        "The hinge-loss support vector machine: weights, bias, outcome.");
}

}  // namespace hardmargin
