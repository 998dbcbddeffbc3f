#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/control.h"
#include "base/random.h"
#include "check.h"
#include "literature/cut_oracle.h"
#include "random_problems.h"

using namespace hardmargin;
using namespace hardmargin::testing;

namespace {

std::vector<bool> without(const std::vector<bool>& kept, std::size_t sample) {
    std::vector<bool> others = kept;
    others[sample] = false;
    return others;
}

}  // namespace

TEST(cuts_of_a_ball_are_impossible_and_minimal) {
    Random random(5);
    std::size_t found = 0;
    for (int round = 0; round < 400; ++round) {
        const RandomProblem problem = random_problem(random, 10, 3);
        const Samples samples = problem.samples();
        const double radius = 3.0 / std::max(samples.largest_norm(), 1e-3);
        CutOracle oracle(samples, WeightRegion::ball, radius);
        std::vector<unsigned char> asked(problem.count, 1);
        for (int question = 0; question < 3; ++question) {
            const CutOracle::Answer answer = oracle.separate(asked);
            std::vector<bool> kept(problem.count);
            for (std::size_t i = 0; i < problem.count; ++i) {
                kept[i] = asked[i] != 0;
            }
            const double limit = 0.5 * radius * radius;
            if (answer == CutOracle::Answer::possible) {
                CHECK(exhaustive_margin_value(problem, kept) <= limit * (1 + 1e-6));
                break;
            }
            CHECK(answer == CutOracle::Answer::impossible);
            if (answer != CutOracle::Answer::impossible) {
                break;
            }
            std::vector<bool> members(problem.count);
            for (const std::size_t member : oracle.members()) {
                CHECK(kept[member]);
                members[member] = true;
            }
            CHECK(exhaustive_margin_value(problem, members) >= limit);
            for (const std::size_t member : oracle.members()) {
                CHECK(exhaustive_margin_value(problem, without(members, member)) <= limit * (1 + 1e-6));
            }
            ++found;
            asked[oracle.members().front()] = 0;
        }
    }
    CHECK(found > 300);
}
