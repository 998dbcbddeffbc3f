// What the subproblems of the searches over samples and over directions have in common.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>

#include "qp/max_margin.h"

namespace hardmargin {

// An open subproblem as data. None of its solutions costs less than the minimum of `bound` and `upper`.
template <typename Node>
concept SearchNode = std::movable<Node> && requires(Node node, const Node& constant) {
    { node.bound } -> std::same_as<double&>;
    { node.upper } -> std::same_as<double&>;
    { constant.size_in_memory() } -> std::convertible_to<std::size_t>;
};

// Closed: the subproblem has no solution that is better than the incumbent by the gap.
enum class Verdict { open, closed };

// Called with a solver whose solution satisfies its rows; returns the current upper bound.
using ImproveFunction = std::function<double(const MaxMargin&)>;

}  // namespace hardmargin
