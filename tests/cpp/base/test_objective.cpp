#include <algorithm>
#include <cmath>
#include <vector>

#include "base/objective.h"
#include "base/random.h"
#include "check.h"

using namespace hardmargin;

TEST(the_plain_objective_is_not_rounded) {
    const Objective plain;
    CHECK(plain.is_plain());
    CHECK(plain.value(0.1, 0.2) == 0.1 + 0.2);
    CHECK(plain.room(0.7, 0.2) == 0.7 - 0.2);
    CHECK(plain.needed(0.7, 0.1) == 0.7 - 0.1);
    CHECK(!Objective({{2, 1}}).is_plain());
    CHECK(!Objective({{1, 1}, {1, 1}}).is_plain());
}

// A solution that is better than `upper` has less than the room in its norm, and less than what is needed in its
// cost; the value of a solution is not overestimated.
TEST(conclusions_are_rounded_to_the_safe_side) {
    Random random(17);
    const auto number = [&] { return std::pow(10.0, 6 * random.uniform() - 3); };
    for (int round = 0; round < 2000; ++round) {
        std::vector<Objective::Term> terms(1 + static_cast<std::size_t>(4 * random.uniform()));
        for (Objective::Term& term : terms) {
            term = {number(), number()};
        }
        const Objective objective(terms);
        const double upper = number();
        const double cost = number();
        const double norm = number();
        long double value = INFINITY;
        long double room = -INFINITY;
        long double needed = -INFINITY;
        for (const auto& [scale, rate] : terms) {
            const long double limit = static_cast<long double>(upper) / scale;
            value = std::min(value, scale * (norm + static_cast<long double>(rate) * cost));
            room = std::max(room, limit - static_cast<long double>(rate) * cost);
            needed = std::max(needed, (limit - norm) / rate);
        }
        CHECK(objective.value(norm, cost) <= value);
        CHECK(objective.value(norm, cost) >= value * (1 - 1e-13L));
        CHECK(room <= 0 || objective.room(upper, cost) >= room);
        CHECK(needed <= 0 || objective.needed(upper, norm) >= needed);
        CHECK((room > 0) == (objective.room(upper, cost) > 0));
    }
}
