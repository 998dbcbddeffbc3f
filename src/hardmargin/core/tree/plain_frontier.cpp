#include "tree/plain_frontier.h"

#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace hardmargin {

namespace {

using Integers = std::span<const std::uint32_t>;
using Numbers = std::span<const double>;

constexpr std::size_t packing_numbers = 2;

std::size_t direction_numbers(std::size_t dimension) {
    return 2 * dimension + 5;
}

void require(bool holds, const char* what) {
    if (!holds) {
        throw std::invalid_argument(what);
    }
}

// Calls visit(integers, numbers) for every subproblem.
template <typename Visit>
void for_each(const PlainFrontierView& frontier, std::size_t width, Visit&& visit) {
    require(frontier.numbers.size() == width * frontier.ends.size() &&
                frontier.integers.size() == (frontier.ends.empty() ? 0 : frontier.ends.back()),
            "frontier: the arrays do not fit together, or not these samples");
    std::uint64_t begin = 0;
    for (std::size_t k = 0; k < frontier.ends.size(); ++k) {
        const std::uint64_t end = frontier.ends[k];
        require(begin < end && end <= frontier.integers.size(), "frontier: every subproblem needs its integers");
        const Numbers numbers = frontier.numbers.subspan(k * width, width);
        for (const double number : numbers) {
            require(!std::isnan(number), "frontier: bounds and corners must be numbers");
        }
        visit(frontier.integers.subspan(begin, end - begin), numbers);
        begin = end;
    }
}

}  // namespace

PlainFrontier plain(const std::vector<PackingNode>& nodes) {
    PlainFrontier frontier;
    for (const PackingNode& node : nodes) {
        std::vector<std::uint32_t>& integers = frontier.integers;
        integers.push_back(static_cast<std::uint32_t>(node.kept.size()));
        integers.insert(integers.end(), node.kept.begin(), node.kept.end());
        integers.insert(integers.end(), node.given_up.begin(), node.given_up.end());
        frontier.ends.push_back(integers.size());
        frontier.numbers.insert(frontier.numbers.end(), {node.bound, node.upper});
    }
    return frontier;
}

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

void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<PackingNode>& nodes) {
    std::vector<std::size_t> seen_in(samples.count(), 0);
    for_each(frontier, packing_numbers, [&](Integers integers, Numbers numbers) {
        const std::size_t kept = integers[0];
        const Integers decided = integers.subspan(1);
        require(kept <= decided.size(), "frontier: more samples kept than decided");
        for (const std::uint32_t sample : decided) {
            require(sample < samples.count() && seen_in[sample] != nodes.size() + 1,
                    "frontier: samples must exist and be decided once");
            seen_in[sample] = nodes.size() + 1;
        }
        const Integers first = decided.first(kept);
        const Integers rest = decided.subspan(kept);
        nodes.push_back({{first.begin(), first.end()}, {rest.begin(), rest.end()}, numbers[0], numbers[1]});
    });
}

void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<DirectionNode>& nodes) {
    const std::size_t dimension = samples.dimension();
    for_each(frontier, direction_numbers(dimension), [&](Integers integers, Numbers numbers) {
        const std::uint32_t face = integers[0];
        const double sign = numbers[0];
        const Numbers low = numbers.subspan(1, dimension);
        const Numbers high = numbers.subspan(1 + dimension, dimension);
        const Numbers rest = numbers.subspan(1 + 2 * dimension);
        bool fits =
            integers.size() == 1 && face < dimension && std::fabs(sign) == 1 && rest[0] >= 0 && rest[1] >= rest[0];
        for (std::size_t k = 0; fits && k < dimension; ++k) {
            fits = -1 <= low[k] && low[k] <= high[k] && high[k] <= 1;
        }
        require(fits && low[face] == sign && high[face] == sign,
                "frontier: regions must be boxes on a face of the cube");
        nodes.push_back(
            {face, sign, {low.begin(), low.end()}, {high.begin(), high.end()}, rest[0], rest[1], rest[2], rest[3]});
    });
}

}  // namespace hardmargin
