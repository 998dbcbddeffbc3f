#include "directions/frontier.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hardmargin {

namespace {

std::size_t numbers_of_node(std::size_t dimension) {
    // Two corners; sign, least and greatest length, bound and upper.
    return 2 * dimension + 5;
}

}  // namespace

PlainFrontier plain(const std::vector<DirectionNode>& nodes) {
    PlainFrontier frontier;
    for (const DirectionNode& node : nodes) {
        frontier.integers.push_back(node.face);
        frontier.ends.push_back(frontier.integers.size());
        std::vector<double>& numbers = frontier.numbers;
        numbers.push_back(node.sign);
        numbers.insert(numbers.end(), node.low.begin(), node.low.end());
        numbers.insert(numbers.end(), node.high.begin(), node.high.end());
        numbers.insert(numbers.end(), {node.shortest, node.longest, node.bound, node.upper});
    }
    return frontier;
}

void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<DirectionNode>& nodes) {
    const std::size_t dimension = samples.dimension();
    const auto restore_one = [&](FrontierIntegers integers, FrontierNumbers numbers) {
        const std::uint32_t face = integers[0];
        const double sign = numbers[0];
        const FrontierNumbers low = numbers.subspan(1, dimension);
        const FrontierNumbers high = numbers.subspan(1 + dimension, dimension);
        const FrontierNumbers rest = numbers.subspan(1 + 2 * dimension);
        bool fits =
            integers.size() == 1 && face < dimension && std::fabs(sign) == 1 && rest[0] >= 0 && rest[1] >= rest[0];
        for (std::size_t k = 0; fits && k < dimension; ++k) {
            fits = -1 <= low[k] && low[k] <= high[k] && high[k] <= 1;
        }
        require_of_frontier(fits && low[face] == sign && high[face] == sign,
                            "frontier: regions must be boxes on a face of the cube");
        nodes.push_back(
            {face, sign, {low.begin(), low.end()}, {high.begin(), high.end()}, rest[0], rest[1], rest[2], rest[3]});
    };
    for_each_subproblem(frontier, numbers_of_node(dimension), restore_one);
}

}  // namespace hardmargin
