// Open subproblems as three arrays, to be written to files and sent to other machines. packing/frontier.h and
// directions/frontier.h define what the arrays hold for one subproblem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hardmargin {

using FrontierIntegers = std::span<const std::uint32_t>;
using FrontierNumbers = std::span<const double>;

// Subproblem k has the integers from ends[k - 1] (0 for the first) to ends[k] and an equal share of the numbers, of
// which the last two are its `bound` and its `upper`. Together the subproblems contain every solution that costs
// less than the smallest `upper`.
struct PlainFrontier {
    std::vector<std::uint32_t> integers;
    std::vector<std::uint64_t> ends;
    std::vector<double> numbers;
};

struct PlainFrontierView {
    FrontierIntegers integers;
    std::span<const std::uint64_t> ends;
    FrontierNumbers numbers;
};

// Calls visit(integers, numbers) for every subproblem, each with `width` numbers. Throws std::invalid_argument if
// the arrays do not fit together.
void for_each_subproblem(const PlainFrontierView& frontier, std::size_t width,
                         const std::function<void(FrontierIntegers, FrontierNumbers)>& visit);

// Throws std::invalid_argument with this message unless it holds.
void require_of_frontier(bool holds, const char* what);

}  // namespace hardmargin
