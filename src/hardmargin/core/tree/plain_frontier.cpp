#include "tree/plain_frontier.h"

#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace hardmargin {

void require_of_frontier(bool holds, const char* what) {
    if (!holds) {
        throw std::invalid_argument(what);
    }
}

void for_each_subproblem(const PlainFrontierView& frontier, std::size_t width,
                         const std::function<void(FrontierIntegers, FrontierNumbers)>& visit) {
    require_of_frontier(frontier.numbers.size() == width * frontier.ends.size() &&
                            frontier.integers.size() == (frontier.ends.empty() ? 0 : frontier.ends.back()),
                        "frontier: the arrays do not fit together, or not these samples");
    std::uint64_t begin = 0;
    for (std::size_t k = 0; k < frontier.ends.size(); ++k) {
        const std::uint64_t end = frontier.ends[k];
        require_of_frontier(begin < end && end <= frontier.integers.size(),
                            "frontier: every subproblem needs its integers");
        const FrontierNumbers numbers = frontier.numbers.subspan(k * width, width);
        for (const double number : numbers) {
            require_of_frontier(!std::isnan(number), "frontier: bounds and corners must be numbers");
        }
        visit(frontier.integers.subspan(begin, end - begin), numbers);
        begin = end;
    }
}

}  // namespace hardmargin
