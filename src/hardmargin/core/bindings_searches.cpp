// Where Python meets the exact searches.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.h"
#include "direction_search.h"
#include "packing_search.h"
#include "samples.h"

namespace hardmargin {

namespace {

// Open subproblems as Python has them: (kept, given_up, bound, upper).
using PlainPackingNode = std::tuple<std::vector<std::uint32_t>, std::vector<std::uint32_t>, double, double>;
// (face, sign, low, high, shortest, longest, bound, upper)
using PlainDirectionNode =
    std::tuple<std::uint32_t, double, std::vector<double>, std::vector<double>, double, double, double, double>;

PlainPackingNode plain(const PackingNode& node) {
    return {node.kept, node.given_up, node.bound, node.upper};
}

PlainDirectionNode plain(const DirectionNode& node) {
    return {node.face, node.sign, node.low, node.high, node.shortest, node.longest, node.bound, node.upper};
}

std::vector<PackingNode> checked_frontier(const std::vector<PlainPackingNode>& given, const Samples& samples) {
    std::vector<PackingNode> frontier;
    for (const auto& [kept, given_up, bound, upper] : given) {
        std::vector<unsigned char> seen(samples.count());
        for (const std::vector<std::uint32_t>* decided : {&kept, &given_up}) {
            for (const std::uint32_t sample : *decided) {
                if (sample >= samples.count() || seen[sample]++ != 0) {
                    throw nb::value_error("frontier: samples must exist and be decided once");
                }
            }
        }
        frontier.push_back({kept, given_up, bound, upper});
    }
    return frontier;
}

std::vector<DirectionNode> checked_frontier(const std::vector<PlainDirectionNode>& given, const Samples& samples) {
    std::vector<DirectionNode> frontier;
    for (const auto& [face, sign, low, high, shortest, longest, bound, upper] : given) {
        bool fits = face < samples.dimension() && std::fabs(sign) == 1 && low.size() == samples.dimension() &&
                    high.size() == samples.dimension() && shortest >= 0 && longest >= shortest;
        for (std::size_t k = 0; fits && k < low.size(); ++k) {
            fits = -1 <= low[k] && low[k] <= high[k] && high[k] <= 1;
        }
        if (!fits || low[face] != sign || high[face] != sign) {
            throw nb::value_error("frontier: regions must be boxes on a face of the cube");
        }
        frontier.push_back({face, sign, low, high, shortest, longest, bound, upper});
    }
    return frontier;
}

// What a search found, and why it returned.
template <typename Node>
struct SearchResult {
    SearchOutcome<Node> found;
    Outcome outcome;
};

void check(const PackingOptions&, const Samples&) {}

void check(const DirectionOptions& options, const Samples& samples) {
    if (!options.first_axis.empty() && options.first_axis.size() != samples.dimension()) {
        throw nb::value_error("first_axis: a number for every feature, or none at all");
    }
}

// The nodes of a plain frontier, or those that an earlier search on the same samples has left open, which are not
// turned into Python's objects and back.
template <typename Node, typename Plain>
std::vector<Node> nodes_of(const std::variant<std::vector<Plain>, SearchResult<Node>*>& frontier,
                           const Samples& samples) {
    if (std::holds_alternative<SearchResult<Node>*>(frontier)) {
        return std::get<SearchResult<Node>*>(frontier)->found.open;
    }
    std::vector<Node> nodes = checked_frontier(std::get<std::vector<Plain>>(frontier), samples);
    for (const Node& node : nodes) {
        if (std::isnan(node.bound) || std::isnan(node.upper)) {
            throw nb::value_error("frontier: bounds must be numbers");
        }
    }
    return nodes;
}

template <typename Node, typename Plain, typename Options, auto search>
SearchResult<Node> run(const Matrix& features, const Vector& labels, const Vector& costs,
                       const std::variant<std::vector<Plain>, SearchResult<Node>*>& frontier, double upper,
                       const Options& options, const SearchLimits& limits, double seconds, nb::object observer) {
    const Samples samples(view(features), view(labels), view(costs));
    check(options, samples);
    std::vector<Node> nodes = nodes_of<Node, Plain>(frontier, samples);
    SearchResult<Node> result;
    result.outcome = watched(seconds, std::move(observer), [&](Control& control) {
        result.found = search(samples, std::move(nodes), upper, options, limits, control);
    });
    return result;
}

template <typename Node>
void bind_result(nb::module_& module, const char* name) {
    using Result = SearchResult<Node>;
    nb::class_<Result>(module, name, "What the search found, proved and left open.")
        .def_prop_ro(
            "weights", [](const Result& self) { return self.found.best.weights; },
            "Empty if nothing better than `upper` was found.")
        .def_prop_ro("bias", [](const Result& self) { return self.found.best.bias; })
        .def_prop_ro("objective", [](const Result& self) { return self.found.best.objective; })
        .def_prop_ro("lower_bound", [](const Result& self) { return self.found.lower_bound; })
        .def_prop_ro("nodes", [](const Result& self) { return self.found.nodes; })
        .def_prop_ro(
            "work", [](const Result& self) { return self.found.work; }, "Multiply-adds, about.")
        .def_prop_ro("open",
                     [](const Result& self) {
                         std::vector<decltype(plain(self.found.open[0]))> open;
                         for (const Node& node : self.found.open) {
                             open.push_back(plain(node));
                         }
                         return open;
                     })
        .def_ro("outcome", &Result::outcome);
}

void bind_packing(nb::module_& module) {
    nb::class_<PackingOptions>(module, "PackingOptions", "How subproblems are bounded and branched on.")
        .def(nb::init<>())
        .def_rw("gap", &PackingOptions::gap)
        .def_rw("strong_candidates", &PackingOptions::strong_candidates)
        .def_rw("cover_distance", &PackingOptions::cover_distance)
        .def_rw("pool_memory", &PackingOptions::pool_memory);
    bind_result<PackingNode>(module, "PackingResult");
    module.def("packing_search", &run<PackingNode, PlainPackingNode, PackingOptions, packing_search>, "features"_a,
               "labels"_a, "costs"_a, "frontier"_a, "upper"_a, "options"_a, "limits"_a, "seconds"_a,
               "observer"_a.none(), "Branch and bound over the samples to give up, below the nodes of a frontier.");
}

void bind_directions(nb::module_& module) {
    nb::class_<DirectionOptions>(module, "DirectionOptions", "How regions are bounded and split.")
        .def(nb::init<>())
        .def_rw("gap", &DirectionOptions::gap)
        .def_rw("first_axis", &DirectionOptions::first_axis)
        .def_rw("path_memory", &DirectionOptions::path_memory);
    bind_result<DirectionNode>(module, "DirectionResult");
    module.def("direction_search", &run<DirectionNode, PlainDirectionNode, DirectionOptions, direction_search>,
               "features"_a, "labels"_a, "costs"_a, "frontier"_a, "upper"_a, "options"_a, "limits"_a, "seconds"_a,
               "observer"_a.none(),
               "Branch and bound over hyperplane directions, in the regions of a frontier; empty: all directions.");
}

}  // namespace

void bind_searches(nb::module_& module) {
    nb::class_<SearchLimits>(module, "SearchLimits", "What a search may use.")
        .def(nb::init<>())
        .def_rw("threads", &SearchLimits::threads)
        .def_rw("node_limit", &SearchLimits::node_limit)
        .def_rw("work_limit", &SearchLimits::work_limit)
        .def_rw("slice", &SearchLimits::slice)
        .def_rw("memory", &SearchLimits::memory);
    bind_packing(module);
    bind_directions(module);
}

}  // namespace hardmargin
