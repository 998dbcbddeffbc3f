// Binds the max-margin solver and the primal search with its parts to Python. bindings/searches.cpp binds the exact
// searches, bindings/cuts.cpp what the integer programming methods need, bindings/tables.cpp the
// reader of tables.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/kernels_choice.h"
#include "base/samples.h"
#include "bindings/cuts.h"
#include "bindings/searches.h"
#include "bindings/shared.h"
#include "bindings/tables.h"
#include "packing/root_bound.h"
#include "primal/line_search.h"
#include "primal/offset_search.h"
#include "primal/search.h"
#include "qp/max_margin.h"

namespace hardmargin {

namespace {

#ifdef NDEBUG
constexpr bool contracts_are_checked = false;
#else
constexpr bool contracts_are_checked = true;
#endif

// A MaxMargin that owns its samples.
class OwningMaxMargin {
public:
    OwningMaxMargin(const Matrix& features, const Vector& labels, const Bounds& bounds)
        : samples_(view(features), view(labels), std::vector<double>(labels.size(), 1.0),
                   std::numeric_limits<double>::infinity(), bounds_of(bounds)),
          solver_(samples_) {}
    OwningMaxMargin(const OwningMaxMargin&) = delete;
    OwningMaxMargin& operator=(const OwningMaxMargin&) = delete;

    MaxMargin& solver() { return solver_; }
    const Samples& samples() const { return samples_; }

    MaxMarginStatus solve(double threshold, double seconds) {
        MaxMarginStatus status = MaxMarginStatus::failed;
        const Outcome outcome = watched(seconds, nb::none(), [&](Control& control) {
            solver_.set_stop([&control] { return control.stop({0, 0, 0}); });
            status = solver_.solve(threshold);
            solver_.set_stop(never);
        });
        if (!outcome.error.is_none()) {
            PyErr_SetObject(outcome.error.type().ptr(), outcome.error.ptr());
            throw nb::python_error();
        }
        return status;
    }

    std::size_t checked_row(std::size_t row) const {
        if (solver_.rows().is_extra(row)) {
            throw nb::index_error("no such row");
        }
        return row;
    }

private:
    Samples samples_;
    MaxMargin solver_;
};

void bind_max_margin(nb::module_& module) {
    nb::enum_<MaxMarginStatus>(module, "MaxMarginStatus", "How a max-margin solve ended.")
        .value("optimal", MaxMarginStatus::optimal)
        .value("threshold", MaxMarginStatus::threshold)
        .value("infeasible", MaxMarginStatus::infeasible)
        .value("failed", MaxMarginStatus::failed);
    nb::class_<OwningMaxMargin>(module, "MaxMargin",
                                "Shortest w with y (w.x + b) >= 1 over a changing set of samples.\n\n"
                                "Row i < n keeps sample i; row n + i is its flip, the reversed constraint.")
        .def(nb::init<const Matrix&, const Vector&, const Bounds&>(), "features"_a, "labels"_a,
             "bounds"_a = nb::none())
        .def(
            "enable", [](OwningMaxMargin& self, std::size_t row) { self.solver().enable(self.checked_row(row)); },
            "row"_a)
        .def(
            "disable", [](OwningMaxMargin& self, std::size_t row) { self.solver().disable(self.checked_row(row)); },
            "row"_a)
        .def("forget", [](OwningMaxMargin& self) { self.solver().forget(); })
        .def(
            "solve",
            [](OwningMaxMargin& self, double threshold, double seconds) { return self.solve(threshold, seconds); },
            "threshold"_a = MaxMargin::no_threshold, "seconds"_a = std::numeric_limits<double>::infinity(),
            "Fails if the time is up.")
        .def_prop_ro("value", [](OwningMaxMargin& self) { return self.solver().value(); })
        .def_prop_ro("weights",
                     [](OwningMaxMargin& self) {
                         const std::span<const double> weights = self.solver().weights();
                         return std::vector<double>(
                             weights.begin(),
                             weights.begin() + static_cast<std::ptrdiff_t>(self.samples().dimension()));
                     })
        .def_prop_ro("bias", [](OwningMaxMargin& self) { return self.solver().bias(); })
        .def_prop_ro(
            "proof",
            [](OwningMaxMargin& self) {
                std::vector<std::size_t> rows;
                for (const Multiplier& multiplier : self.solver().certificate()) {
                    if (!self.solver().rows().is_extra(multiplier.row)) {
                        rows.push_back(multiplier.row);
                    }
                }
                return rows;
            },
            "The rows that the last solve has proven to be unsatisfiable, below its threshold or at all.")
        .def_prop_ro("support", [](OwningMaxMargin& self) {
            std::vector<std::pair<std::size_t, double>> rows;
            const MaxMargin& solver = self.solver();
            for (std::size_t k = 0; k < solver.active_rows().size(); ++k) {
                rows.emplace_back(solver.active_rows()[k], solver.multipliers()[k]);
            }
            return rows;
        });
}

class OwningPrimalSearch {
public:
    OwningPrimalSearch(const Matrix& features, const Vector& labels, const Vector& costs, std::uint64_t seed,
                       double upper, const Bounds& bounds)
        : samples_(view(features), view(labels), view(costs), upper, bounds_of(bounds)), search_(samples_, seed) {}
    OwningPrimalSearch(const OwningPrimalSearch&) = delete;
    OwningPrimalSearch& operator=(const OwningPrimalSearch&) = delete;

    PrimalSearch& search() { return search_; }

    Outcome start(double seconds, std::uint64_t work, double target, double lower_bound, nb::object observer) {
        return watched(seconds, std::move(observer),
                       [&](Control& control) { search_.start(control, {work, 0, target, lower_bound}); });
    }

    Outcome walk(double seconds, std::uint64_t work, std::uint64_t tries, double target, double lower_bound,
                 nb::object observer) {
        return watched(seconds, std::move(observer),
                       [&](Control& control) { search_.walk(control, {work, tries, target, lower_bound}); });
    }

    Outcome offer(const Vector& weights, double bias, std::uint64_t work, double seconds) {
        if (weights.size() != samples_.dimension()) {
            throw nb::value_error("offer: the weights do not fit the samples");
        }
        Hyperplane hyperplane{std::vector<double>(samples_.stride()), bias};
        std::copy_n(weights.data(), weights.size(), hyperplane.weights.data());
        return watched(seconds, nb::none(),
                       [&](Control& control) { search_.offer(control, {work, 0, 0.0, 0.0}, hyperplane); });
    }

    std::tuple<double, Outcome, nb::bytes> root_bound(double gap, double seconds, nb::object observer) {
        double bound = 0;
        ProofRecord record;
        Outcome outcome = watched(seconds, std::move(observer), [&](Control& control) {
            bound = hardmargin::root_bound(samples_, search_.best().objective, gap, control, &record);
        });
        return {bound, std::move(outcome), nb::bytes(record.bytes().data(), record.size())};
    }

private:
    Samples samples_;
    PrimalSearch search_;
};

void bind_primal_search(nb::module_& module) {
    nb::class_<Outcome>(module, "Outcome", "Why a search ended.")
        .def_ro("timed_out", &Outcome::timed_out)
        .def_ro("interrupted", &Outcome::interrupted)
        .def_ro("error", &Outcome::error, "The exception raised by the observer or a signal handler, or None.");
    nb::class_<OwningPrimalSearch>(module, "PrimalSearch", "Good hyperplanes, and a first lower bound.")
        .def(nb::init<const Matrix&, const Vector&, const Vector&, std::uint64_t, double, const Bounds&>(),
             "features"_a, "labels"_a, "costs"_a, "seed"_a, "upper"_a = std::numeric_limits<double>::infinity(),
             "bounds"_a = nb::none())
        .def("start", &OwningPrimalSearch::start, "seconds"_a, "work"_a, "target"_a, "lower_bound"_a,
             "observer"_a.none())
        .def("walk", &OwningPrimalSearch::walk, "seconds"_a, "work"_a, "tries"_a, "target"_a, "lower_bound"_a,
             "observer"_a.none())
        .def("offer", &OwningPrimalSearch::offer, "weights"_a, "bias"_a, "work"_a, "seconds"_a)
        .def("root_bound", &OwningPrimalSearch::root_bound, "gap"_a, "seconds"_a, "observer"_a.none(),
             "The bound, why it ended, and a record that proves it.")
        .def_prop_ro("weights", [](OwningPrimalSearch& self) { return self.search().best().weights; })
        .def_prop_ro("bias", [](OwningPrimalSearch& self) { return self.search().best().bias; })
        .def_prop_ro("objective", [](OwningPrimalSearch& self) { return self.search().best().objective; })
        .def_prop_ro("rounds", [](OwningPrimalSearch& self) { return self.search().rounds(); })
        .def_prop_ro(
            "work", [](OwningPrimalSearch& self) { return self.search().work(); }, "Multiply-adds, approximately.");
}

// The exact searches along a direction and along a line, for margins that Python has computed.
void bind_line_searches(nb::module_& module) {
    module.def(
        "best_offset",
        [](const Vector& projections, const Vector& labels, const Vector& costs, double norm_squared) {
            if (labels.size() != projections.size() || costs.size() != projections.size()) {
                throw nb::value_error("best_offset: expected a label and a cost for every projection");
            }
            const nb::gil_scoped_release unlocked;
            ProjectionSearch search;
            const ProjectionSearch::Optimum found =
                search.minimise(view(projections), view(labels), view(costs), norm_squared);
            return std::make_tuple(found.objective, found.scale, found.bias);
        },
        "projections"_a, "labels"_a, "costs"_a, "norm_squared"_a,
        "The least objective of the hyperplanes w = scale s along a direction s, with the scale and the offset.\n\n"
        "The projections are s.x; `norm_squared` is ||s||^2. The scale is 0 if the cheaper class is given up.");
    module.def(
        "line_minimum",
        [](const Vector& margins, const Vector& slopes, const Vector& costs, double norm_squared, double product,
           double direction_squared, double limit) {
            if (margins.size() != costs.size() || slopes.size() != costs.size()) {
                throw nb::value_error("line_minimum: expected a margin and a slope for every cost");
            }
            const nb::gil_scoped_release unlocked;
            constexpr double infinity = std::numeric_limits<double>::infinity();
            LineSearch search(view(costs));
            const LineMinimum found =
                search.minimise({view(margins), view(slopes), norm_squared, product, direction_squared}, -infinity,
                                infinity, limit);
            return std::make_pair(found.step, found.objective);
        },
        "margins"_a, "slopes"_a, "costs"_a, "norm_squared"_a, "product"_a, "direction_squared"_a, "limit"_a,
        "The best step along a line of hyperplanes, and its objective; infinity if no step stays below the limit."
        "\n\nThe norms are ||w||^2, w.dw and ||dw||^2 of the line (w, b) + step (dw, db).");
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "Compiled core of hardmargin.";
    if (const std::string error = kernels_error(); !error.empty()) {
        throw nb::import_error(error.c_str());
    }
    module.def("kernels", &kernels_name, "The kind of CPU that the innermost loops in use are compiled for.");
    module.def(
        "checks_contracts", [] { return contracts_are_checked; },
        "Whether the core was compiled with its assertions, which makes it slower.");
    bind_max_margin(module);
    bind_primal_search(module);
    bind_line_searches(module);
    bind_searches(module);
    bind_cuts(module);
    bind_tables(module);
}

}  // namespace hardmargin
