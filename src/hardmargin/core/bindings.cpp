// The one place where Python meets the core.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "conflict_bound.h"
#include "control.h"
#include "max_margin.h"
#include "packing_search.h"
#include "primal_search.h"
#include "samples.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hardmargin {

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const double> view(const Matrix& matrix) {
    return {matrix.data(), matrix.size()};
}

std::span<const double> view(const Vector& vector) {
    return {vector.data(), vector.size()};
}

// MaxMargin with the samples it works on.
class OwningMaxMargin {
public:
    OwningMaxMargin(const Matrix& features, const Vector& labels)
        : samples_(view(features), view(labels), std::vector<double>(labels.size(), 1.0)), solver_(samples_) {}
    OwningMaxMargin(const OwningMaxMargin&) = delete;
    OwningMaxMargin& operator=(const OwningMaxMargin&) = delete;

    MaxMargin& solver() { return solver_; }
    const Samples& samples() const { return samples_; }

    std::size_t checked_row(std::size_t row) const {
        if (row >= 2 * samples_.count() + extra_count_) {
            throw nb::index_error("no such row");
        }
        return row;
    }

    void set_extra_rows(const Matrix& normals, const Vector& bounds) {
        if (normals.shape(0) != bounds.size() || normals.shape(1) != samples_.dimension()) {
            throw nb::value_error("extra rows: normals and bounds do not fit");
        }
        std::vector<ExtraRow> rows(bounds.size());
        for (std::size_t j = 0; j < rows.size(); ++j) {
            rows[j].normal.assign(samples_.stride(), 0.0);
            std::copy_n(normals.data() + j * samples_.dimension(), samples_.dimension(), rows[j].normal.data());
            rows[j].bound = bounds.data()[j];
        }
        extra_count_ = rows.size();
        solver_.set_extra_rows(std::move(rows));
    }

private:
    Samples samples_;
    MaxMargin solver_;
    std::size_t extra_count_ = 0;
};

void bind_max_margin(nb::module_& module) {
    nb::enum_<MaxMarginStatus>(module, "MaxMarginStatus", "How a max-margin solve ended.")
        .value("optimal", MaxMarginStatus::optimal)
        .value("threshold", MaxMarginStatus::threshold)
        .value("infeasible", MaxMarginStatus::infeasible)
        .value("failed", MaxMarginStatus::failed);
    nb::class_<OwningMaxMargin>(module, "MaxMargin",
                                "Shortest w with y (w.x + b) >= 1 over a changing set of samples.\n\n"
                                "Row i < n keeps sample i, row n + i asks the opposite, row 2n + j is extra row j.")
        .def(nb::init<const Matrix&, const Vector&>(), "features"_a, "labels"_a)
        .def(
            "enable", [](OwningMaxMargin& self, std::size_t row) { self.solver().enable(self.checked_row(row)); },
            "row"_a)
        .def(
            "disable", [](OwningMaxMargin& self, std::size_t row) { self.solver().disable(self.checked_row(row)); },
            "row"_a)
        .def("clear", [](OwningMaxMargin& self) { self.solver().clear(); })
        .def("forget", [](OwningMaxMargin& self) { self.solver().forget(); })
        .def("set_extra_rows", &OwningMaxMargin::set_extra_rows, "normals"_a, "bounds"_a)
        .def(
            "solve", [](OwningMaxMargin& self, double threshold) { return self.solver().solve(threshold); },
            "threshold"_a = MaxMargin::no_threshold)
        .def_prop_ro("value", [](OwningMaxMargin& self) { return self.solver().value(); })
        .def_prop_ro("weights",
                     [](OwningMaxMargin& self) {
                         const std::span<const double> weights = self.solver().weights();
                         return std::vector<double>(
                             weights.begin(),
                             weights.begin() + static_cast<std::ptrdiff_t>(self.samples().dimension()));
                     })
        .def_prop_ro("bias", [](OwningMaxMargin& self) { return self.solver().bias(); })
        .def_prop_ro("support",
                     [](OwningMaxMargin& self) {
                         std::vector<std::pair<std::size_t, double>> rows;
                         const MaxMargin& solver = self.solver();
                         for (std::size_t k = 0; k < solver.active_rows().size(); ++k) {
                             rows.emplace_back(solver.active_rows()[k], solver.multipliers()[k]);
                         }
                         return rows;
                     })
        .def_prop_ro("certificate",
                     [](OwningMaxMargin& self) {
                         std::vector<std::pair<std::size_t, double>> rows;
                         for (const Multiplier& multiplier : self.solver().certificate()) {
                             rows.emplace_back(multiplier.row, multiplier.value);
                         }
                         return rows;
                     })
        .def_prop_ro("certificate_value", [](OwningMaxMargin& self) { return self.solver().certificate_value(); });
}

// Calls a Python function `observer(upper, lower, nodes) -> bool` from a search that runs without the
// interpreter's lock, and lets Python's signal handlers run. An exception, KeyboardInterrupt included, ends
// the search and is kept, so that what was found so far is not lost on its way.
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

// Runs `function(control)` without the interpreter's lock, watched.
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

class OwningPrimalSearch {
public:
    OwningPrimalSearch(const Matrix& features, const Vector& labels, const Vector& costs, std::uint64_t seed)
        : samples_(view(features), view(labels), view(costs)), search_(samples_, seed) {}
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

    Outcome offer(const Vector& weights, double bias, double seconds) {
        if (weights.size() != samples_.dimension()) {
            throw nb::value_error("offer: the weights do not fit the samples");
        }
        Hyperplane hyperplane{std::vector<double>(samples_.stride()), bias};
        std::copy_n(weights.data(), weights.size(), hyperplane.weights.data());
        return watched(seconds, nb::none(), [&](Control& control) {
            search_.offer(control, {~std::uint64_t{0} >> 1, 0, 0.0, 0.0}, hyperplane);
        });
    }

    std::pair<double, Outcome> conflict_bound(double gap, double seconds, nb::object observer) {
        double bound = 0;
        Outcome outcome = watched(seconds, std::move(observer), [&](Control& control) {
            bound = hardmargin::conflict_bound(samples_, search_.best().objective, gap, control);
        });
        return {bound, std::move(outcome)};
    }

private:
    Samples samples_;
    PrimalSearch search_;
};

void bind_primal_search(nb::module_& module) {
    nb::class_<Outcome>(module, "Outcome", "Why a search returned.")
        .def_ro("timed_out", &Outcome::timed_out)
        .def_ro("interrupted", &Outcome::interrupted)
        .def_ro("error", &Outcome::error, "The exception raised by the observer or a signal handler, or None.");
    nb::class_<OwningPrimalSearch>(module, "PrimalSearch", "Good hyperplanes, and a first lower bound.")
        .def(nb::init<const Matrix&, const Vector&, const Vector&, std::uint64_t>(), "features"_a, "labels"_a,
             "costs"_a, "seed"_a)
        .def("start", &OwningPrimalSearch::start, "seconds"_a, "work"_a, "target"_a, "lower_bound"_a,
             "observer"_a.none())
        .def("walk", &OwningPrimalSearch::walk, "seconds"_a, "work"_a, "tries"_a, "target"_a, "lower_bound"_a,
             "observer"_a.none())
        .def("offer", &OwningPrimalSearch::offer, "weights"_a, "bias"_a, "seconds"_a)
        .def("conflict_bound", &OwningPrimalSearch::conflict_bound, "gap"_a, "seconds"_a, "observer"_a.none())
        .def_prop_ro("weights", [](OwningPrimalSearch& self) { return self.search().best().weights; })
        .def_prop_ro("bias", [](OwningPrimalSearch& self) { return self.search().best().bias; })
        .def_prop_ro("objective", [](OwningPrimalSearch& self) { return self.search().best().objective; })
        .def_prop_ro("rounds", [](OwningPrimalSearch& self) { return self.search().rounds(); })
        .def_prop_ro("work", [](OwningPrimalSearch& self) { return self.search().work(); });
}

// Open subproblems as Python has them: (kept, given_up, bound, upper).
using PlainNode = std::tuple<std::vector<std::uint32_t>, std::vector<std::uint32_t>, double, double>;

struct PackingResult {
    PackingOutcome found;
    Outcome outcome;
};

std::vector<PackingNode> checked_frontier(const std::vector<PlainNode>& plain, std::size_t count) {
    std::vector<PackingNode> frontier;
    for (const auto& [kept, given_up, bound, upper] : plain) {
        std::vector<unsigned char> seen(count);
        for (const std::vector<std::uint32_t>* samples : {&kept, &given_up}) {
            for (const std::uint32_t sample : *samples) {
                if (sample >= count || seen[sample]++ != 0) {
                    throw nb::value_error("frontier: samples must exist and be decided once");
                }
            }
        }
        frontier.push_back({kept, given_up, bound, upper});
    }
    return frontier;
}

PackingResult run_packing(const Matrix& features, const Vector& labels, const Vector& costs,
                          const std::vector<PlainNode>& frontier, double upper, const PackingOptions& options,
                          const PackingLimits& limits, double seconds, nb::object observer) {
    const Samples samples(view(features), view(labels), view(costs));
    PackingResult result;
    result.outcome = watched(seconds, std::move(observer), [&](Control& control) {
        result.found =
            packing_search(samples, checked_frontier(frontier, samples.count()), upper, options, limits, control);
    });
    return result;
}

void bind_packing(nb::module_& module) {
    nb::class_<PackingOptions>(module, "PackingOptions", "How subproblems are bounded and branched on.")
        .def(nb::init<>())
        .def_rw("gap", &PackingOptions::gap)
        .def_rw("strong_candidates", &PackingOptions::strong_candidates)
        .def_rw("cover_distance", &PackingOptions::cover_distance)
        .def_rw("pool_memory", &PackingOptions::pool_memory);
    nb::class_<PackingLimits>(module, "PackingLimits", "What the search may use.")
        .def(nb::init<>())
        .def_rw("threads", &PackingLimits::threads)
        .def_rw("node_limit", &PackingLimits::node_limit)
        .def_rw("slice", &PackingLimits::slice)
        .def_rw("memory", &PackingLimits::memory);
    nb::class_<PackingResult>(module, "PackingResult", "What the search found, proved and left open.")
        .def_prop_ro(
            "weights", [](const PackingResult& self) { return self.found.best.weights; },
            "Empty if nothing better than `upper` was found.")
        .def_prop_ro("bias", [](const PackingResult& self) { return self.found.best.bias; })
        .def_prop_ro("objective", [](const PackingResult& self) { return self.found.best.objective; })
        .def_prop_ro("lower_bound", [](const PackingResult& self) { return self.found.lower_bound; })
        .def_prop_ro("nodes", [](const PackingResult& self) { return self.found.nodes; })
        .def_prop_ro(
            "work", [](const PackingResult& self) { return self.found.work; }, "Multiply-adds, about.")
        .def_prop_ro("open",
                     [](const PackingResult& self) {
                         std::vector<PlainNode> plain;
                         for (const PackingNode& node : self.found.open) {
                             plain.emplace_back(node.kept, node.given_up, node.bound, node.upper);
                         }
                         return plain;
                     })
        .def_ro("outcome", &PackingResult::outcome);
    module.def("packing_search", &run_packing, "features"_a, "labels"_a, "costs"_a, "frontier"_a, "upper"_a,
               "options"_a, "limits"_a, "seconds"_a, "observer"_a.none(),
               "Branch and bound over the samples to give up, below the nodes of a frontier.");
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "Compiled core of hardmargin.";
    bind_max_margin(module);
    bind_primal_search(module);
    bind_packing(module);
}

}  // namespace hardmargin
