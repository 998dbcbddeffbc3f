#include "bindings/searches.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/samples.h"
#include "bindings/shared.h"
#include "directions/frontier.h"
#include "directions/search.h"
#include "packing/budget.h"
#include "packing/frontier.h"
#include "packing/search.h"

namespace hardmargin {

namespace {

using Integers = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ends = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A frontier as Python arrays; see PlainFrontier.
using PlainArrays = std::tuple<Integers, Ends, Matrix>;

template <typename Node>
nb::tuple plain_arrays(const std::vector<Node>& nodes) {
    PlainFrontier frontier = plain(nodes);
    const std::size_t count = nodes.size();
    const std::size_t integers = frontier.integers.size();
    const std::size_t width = count == 0 ? 0 : frontier.numbers.size() / count;
    return nb::make_tuple(array(std::move(frontier.integers), {integers}), array(std::move(frontier.ends), {count}),
                          array(std::move(frontier.numbers), {count, width}));
}

// What a search found, and why it ended.
template <typename Node>
struct SearchResult {
    SearchOutcome<Node> found;
    Outcome outcome;
};

void check(const PackingOptions& options, const Samples& samples) {
    if (options.knowledge && !options.knowledge->is_of(samples)) {
        throw nb::value_error("knowledge: it is of other samples; expected that of a search over the same ones");
    }
    if (options.knowledge && options.proof && !options.knowledge->keeps_certificates) {
        throw nb::value_error("knowledge: it has no certificates; expected that of searches with a proof");
    }
}

void check(const DirectionOptions& options, const Samples& samples) {
    if (!options.first_axis.empty() && options.first_axis.size() != samples.dimension()) {
        throw nb::value_error("first_axis: a number for every feature, or none at all");
    }
    if (options.mirrored >= samples.dimension() && options.mirrored > 0) {
        throw nb::value_error("mirrored: no such feature");
    }
}

// The nodes of a plain frontier, or those that an earlier search on the same samples has left open, without a
// detour through Python objects.
template <typename Node>
std::vector<Node> nodes_of(const std::variant<PlainArrays, SearchResult<Node>*>& frontier, const Samples& samples) {
    if (std::holds_alternative<SearchResult<Node>*>(frontier)) {
        return std::get<SearchResult<Node>*>(frontier)->found.open;
    }
    const auto& [integers, ends, numbers] = std::get<PlainArrays>(frontier);
    std::vector<Node> nodes;
    restore({{integers.data(), integers.size()}, {ends.data(), ends.size()}, view(numbers)}, samples, nodes);
    return nodes;
}

// Frontiers from Python are the roots of a proof: a part of the problem with a number of its own, or the faces of
// the cube in their order. What a search has left open is numbered already.
void number(std::vector<PackingNode>& nodes, const PackingOptions& options) {
    for (PackingNode& node : nodes) {
        node.proof = node.proof == 0 ? options.proof_number : node.proof;
    }
}

void number(std::vector<DirectionNode>& nodes, const DirectionOptions&) {
    for (std::size_t face = 0; face < nodes.size(); ++face) {
        nodes[face].proof = nodes[face].proof == 0 ? face + 1 : nodes[face].proof;
    }
}

nb::tuple packing_root_arrays(std::size_t count, std::vector<std::uint32_t> kept,
                              std::vector<std::uint32_t> given_up, double bound, double upper) {
    return plain_arrays(packing_root(count, std::move(kept), std::move(given_up), bound, upper));
}

nb::tuple direction_root_arrays(const Matrix& features, const Vector& labels, const Vector& costs, double upper,
                                const DirectionOptions& options, const Bounds& bounds) {
    // No hyperplane of interest gives up as much as is needed if its norm is zero.
    const Cutoff cutoff{options.objective, upper, options.budget.credit()};
    const Samples samples(view(features), view(labels), view(costs), cutoff.needed(0), bounds_of(bounds));
    check(options, samples);
    return plain_arrays(direction_root(samples, upper, options));
}

nb::ndarray<nb::numpy, double> direction_axes(const Matrix& features, const Vector& labels, const Vector& costs,
                                              const DirectionOptions& options) {
    const Samples samples(view(features), view(labels), view(costs));
    check(options, samples);
    const DirectionFrame frame(samples, options.first_axis, options.mirrored);
    std::vector<double> axes;
    for (std::size_t k = 0; k < frame.dimension(); ++k) {
        axes.insert(axes.end(), frame.axis(k), frame.axis(k) + frame.dimension());
    }
    return array(std::move(axes), {frame.dimension(), frame.dimension()});
}

template <typename Node, typename Options, auto search>
SearchResult<Node> run(const Matrix& features, const Vector& labels, const Vector& costs,
                       const std::variant<PlainArrays, SearchResult<Node>*>& frontier, double upper,
                       const Options& options, const SearchLimits& limits, double seconds, nb::object observer,
                       const Bounds& bounds) {
    // No hyperplane of interest gives up as much as is needed if its norm is zero.
    const Cutoff cutoff{options.objective, upper, options.budget.credit()};
    const Samples samples(view(features), view(labels), view(costs), cutoff.needed(0), bounds_of(bounds));
    check(options, samples);
    std::vector<Node> nodes = nodes_of<Node>(frontier, samples);
    number(nodes, options);
    SearchResult<Node> result;
    result.outcome = watched(seconds, std::move(observer), [&](Control& control) {
        result.found = search(samples, std::move(nodes), upper, options, limits, control);
    });
    return result;
}

// What an earlier search has left open, with its numbers in a proof.
template <typename Node>
SearchResult<Node> resumed(const Matrix& features, const Vector& labels, const Vector& costs,
                           const PlainArrays& frontier, const std::vector<std::uint64_t>& numbers,
                           const Bounds& bounds) {
    const Samples samples(view(features), view(labels), view(costs), std::numeric_limits<double>::infinity(),
                          bounds_of(bounds));
    SearchResult<Node> result{};
    result.found.open = nodes_of<Node>(frontier, samples);
    if (numbers.size() != result.found.open.size()) {
        throw nb::value_error("proof_numbers: expected one for every open subproblem");
    }
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        result.found.open[k].proof = numbers[k];
    }
    return result;
}

template <typename Node>
void bind_result(nb::module_& module, const char* name) {
    using Result = SearchResult<Node>;
    nb::class_<Result>(module, name, "What the search found, proved and left open.")
        .def_prop_ro(
            "weights", [](const Result& self) { return self.found.best.weights; },
            "Empty if nothing better than `upper` or `keep_below` was found.")
        .def_prop_ro("bias", [](const Result& self) { return self.found.best.bias; })
        .def_prop_ro("objective", [](const Result& self) { return self.found.best.objective; })
        .def_prop_ro(
            "upper", [](const Result& self) { return self.found.upper; },
            "What is closed contains no solution better than this.")
        .def_prop_ro("lower_bound", [](const Result& self) { return self.found.lower_bound; })
        .def_prop_ro("nodes", [](const Result& self) { return self.found.nodes; })
        .def_prop_ro(
            "work", [](const Result& self) { return self.found.work; }, "Multiply-adds, approximately.")
        .def_prop_ro(
            "open", [](const Result& self) { return plain_arrays(self.found.open); },
            "The open subproblems as arrays: integers, their ends by subproblem, numbers by subproblem.")
        .def_prop_ro(
            "proof_numbers",
            [](const Result& self) {
                std::vector<std::uint64_t> numbers;
                for (const Node& node : self.found.open) {
                    numbers.push_back(node.proof);
                }
                return numbers;
            },
            "The numbers of the open subproblems in a proof.")
        .def_prop_ro(
            "exhausted", [](const Result& self) { return self.found.exhausted; },
            "Whether everything was searched; what is still open then cannot be closed because of rounding.")
        .def_ro("outcome", &Result::outcome);
}

using Terms = std::vector<std::tuple<double, double>>;

template <typename Options>
Terms terms(const Options& options) {
    Terms plain;
    for (const Objective::Term& term : options.objective.terms()) {
        plain.emplace_back(term.scale, term.rate);
    }
    return plain;
}

template <typename Options>
void set_terms(Options& options, const Terms& given) {
    std::vector<Objective::Term> terms;
    for (const auto& [scale, rate] : given) {
        if (!(scale > 0 && rate > 0)) {
            throw nb::value_error("terms: expected positive numbers");
        }
        terms.push_back({scale, rate});
    }
    if (terms.empty()) {
        throw nb::value_error("terms: expected at least one");
    }
    options.objective = Objective(std::move(terms));
}

void bind_packing(nb::module_& module) {
    nb::class_<ProofSink>(module, "ProofSink", "A file of proof records.")
        .def(nb::init<const std::string&, std::optional<std::uint64_t>>(), "path"_a, "numbers"_a = nb::none())
        .def("new_number", &ProofSink::new_number, "A number for an open subproblem; 0 is the whole problem.")
        .def("reserve", &ProofSink::reserve, "count"_a,
             "Leaves out this many numbers, and returns the last one before them: another sink may give them out.")
        .def("invalidate", &ProofSink::invalidate,
             "Marks the records as incomplete: a step could not be justified.")
        .def(
            "write",
            [](ProofSink& self, const nb::bytes& record) {
                self.write({static_cast<const std::uint8_t*>(record.data()), record.size()});
            },
            "record"_a)
        .def("flush", &ProofSink::flush)
        .def("close", &ProofSink::close)
        .def(
            "last_record",
            [](const ProofSink& self) {
                const std::vector<std::uint8_t> record = self.last_record();
                return nb::bytes(record.data(), record.size());
            },
            "The last record, of a sink without a file.")
        .def_prop_ro("valid", &ProofSink::valid, "Whether every step could be justified.")
        .def_prop_ro("failed", &ProofSink::failed, "Whether something could not be written.")
        .def_prop_ro("size", &ProofSink::size, "Bytes so far.")
        .def_prop_ro("numbers", &ProofSink::numbers, "The last number that was given out.");
    nb::class_<PackingKnowledge>(module, "PackingKnowledge", "What searches over the same samples share.")
        .def(
            "__init__",
            [](PackingKnowledge* self, const Matrix& features, const Vector& labels, const Vector& costs,
               const Bounds& bounds, bool keeps_certificates) {
                new (self) PackingKnowledge(Samples(view(features), view(labels), view(costs),
                                                    std::numeric_limits<double>::infinity(), bounds_of(bounds)),
                                            keeps_certificates);
            },
            "features"_a, "labels"_a, "costs"_a, "bounds"_a = nb::none(), "keeps_certificates"_a = false)
        .def_prop_ro(
            "sets", [](const PackingKnowledge& self) { return self.sets.size(); }, "The number of certified sets.")
        .def_prop_ro(
            "cover_distance", [](const PackingKnowledge& self) { return self.choice.threshold(); },
            "The cover bound is used from this distance on, in samples.");
    nb::class_<PackingOptions>(module, "PackingOptions", "How subproblems are bounded and branched on.")
        .def(nb::init<>())
        .def_rw("budget", &PackingOptions::budget)
        .def_rw("gap", &PackingOptions::gap)
        .def_prop_rw("terms", &terms<PackingOptions>, &set_terms<PackingOptions>)
        .def_rw("cover_distance", &PackingOptions::cover_distance, nb::arg().none())
        .def_rw("pool_memory", &PackingOptions::pool_memory)
        .def_rw("knowledge", &PackingOptions::knowledge, nb::arg().none())
        .def_rw("proof", &PackingOptions::proof, nb::arg().none())
        .def_rw("proof_number", &PackingOptions::proof_number);
    bind_result<PackingNode>(module, "PackingResult");
    module.def("packing_root", &packing_root_arrays, "count"_a, "kept"_a, "given_up"_a, "bound"_a, "upper"_a,
               "The whole problem of `count` samples as a frontier, or the part of it with these decisions.");
    module.def("packing_resumed", &resumed<PackingNode>, "features"_a, "labels"_a, "costs"_a, "frontier"_a,
               "proof_numbers"_a, "bounds"_a = nb::none(),
               "What a search has left open, numbered as in its proof.");
    module.def("packing_search", &run<PackingNode, PackingOptions, packing_search>, "features"_a, "labels"_a,
               "costs"_a, "frontier"_a, "upper"_a, "options"_a, "limits"_a, "seconds"_a, "observer"_a.none(),
               "bounds"_a = nb::none(),
               "Branch and bound over the samples to give up, below the nodes of a frontier that is not empty.");
}

void bind_directions(nb::module_& module) {
    nb::class_<DirectionOptions>(module, "DirectionOptions", "How regions are bounded and split.")
        .def(nb::init<>())
        .def_rw("gap", &DirectionOptions::gap)
        .def_prop_rw("terms", &terms<DirectionOptions>, &set_terms<DirectionOptions>)
        .def_rw("first_axis", &DirectionOptions::first_axis)
        .def_rw("mirrored", &DirectionOptions::mirrored)
        .def_rw("path_memory", &DirectionOptions::path_memory)
        .def_rw("sample_nodes", &DirectionOptions::sample_nodes)
        .def_rw("budget", &DirectionOptions::budget)
        .def_rw("proof", &DirectionOptions::proof, nb::arg().none());
    bind_result<DirectionNode>(module, "DirectionResult");
    module.def("direction_root", &direction_root_arrays, "features"_a, "labels"_a, "costs"_a, "upper"_a,
               "options"_a, "bounds"_a = nb::none(), "All directions as a frontier.");
    module.def("direction_axes", &direction_axes, "features"_a, "labels"_a, "costs"_a, "options"_a,
               "The axes of the cube, one per row.");
    module.def(
        "direction_copies", [](const Vector& costs, double upper) { return direction_copies(view(costs), upper); },
        "costs"_a, "upper"_a, "How often each sample is copied so that all cost the same; empty if none is.");
    module.def("direction_resumed", &resumed<DirectionNode>, "features"_a, "labels"_a, "costs"_a, "frontier"_a,
               "proof_numbers"_a, "bounds"_a = nb::none(),
               "What a search has left open, numbered as in its proof.");
    module.def("direction_search", &run<DirectionNode, DirectionOptions, direction_search>, "features"_a,
               "labels"_a, "costs"_a, "frontier"_a, "upper"_a, "options"_a, "limits"_a, "seconds"_a,
               "observer"_a.none(), "bounds"_a = nb::none(),
               "Branch and bound over hyperplane directions, in the regions of a frontier that is not empty.");
}

}  // namespace

void bind_searches(nb::module_& module) {
    nb::class_<SearchLimits>(module, "SearchLimits", "Limits of a search.")
        .def(nb::init<>())
        .def_rw("threads", &SearchLimits::threads)
        .def_rw("node_limit", &SearchLimits::node_limit)
        .def_rw("work_limit", &SearchLimits::work_limit)
        .def_rw("slice", &SearchLimits::slice)
        .def_rw("memory", &SearchLimits::memory)
        .def_rw("pause", &SearchLimits::pause)
        .def_rw("keep_below", &SearchLimits::keep_below);
    nb::class_<Budget>(module, "Budget", "Limits on the cost of given-up samples; infinity: priced instead.")
        .def(nb::init<>())
        .def_rw("negatives", &Budget::negatives)
        .def_rw("positives", &Budget::positives)
        .def_rw("total", &Budget::total);
    bind_packing(module);
    bind_directions(module);
}

}  // namespace hardmargin
