#include "packing/frontier.h"

#include <cstddef>
#include <cstdint>

namespace hardmargin {

namespace {

constexpr std::size_t numbers_of_node = 2;

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

void restore(const PlainFrontierView& frontier, const Samples& samples, std::vector<PackingNode>& nodes) {
    std::vector<std::size_t> seen_in(samples.count(), 0);
    const auto restore_one = [&](FrontierIntegers integers, FrontierNumbers numbers) {
        const std::size_t kept = integers[0];
        const FrontierIntegers decided = integers.subspan(1);
        require_of_frontier(kept <= decided.size(), "frontier: more samples kept than decided");
        for (const std::uint32_t sample : decided) {
            require_of_frontier(sample < samples.count() && seen_in[sample] != nodes.size() + 1,
                                "frontier: samples must exist and be decided once");
            seen_in[sample] = nodes.size() + 1;
        }
        const FrontierIntegers first = decided.first(kept);
        const FrontierIntegers rest = decided.subspan(kept);
        nodes.push_back({{first.begin(), first.end()}, {rest.begin(), rest.end()}, numbers[0], numbers[1]});
    };
    for_each_subproblem(frontier, numbers_of_node, restore_one);
}

}  // namespace hardmargin
