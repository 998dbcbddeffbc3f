// Covers of conflicting pairs, by matchings and by flows, and their consequences, compared with enumeration.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "directions/closure.h"
#include "directions/flow.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/pair_conflicts.h"
#include "directions/regions.h"
#include "random_problems.h"

using namespace hardmargin;
using testing::has;

namespace {

// The cheapest cover of the conflicts that contains none of `kept` and all of `given_up`, by enumeration.
struct Cover {
    double cost;
    std::vector<std::uint32_t> masks;  // of all covers that cost at most `limit`
};

Cover cheapest_cover(const PairConflicts& pairs, const PairConflicts::Level& level, const Samples& samples,
                     double limit) {
    Cover cover{std::numeric_limits<double>::infinity(), {}};
    const std::size_t positives = pairs.positives();
    for (std::uint32_t mask = 0; mask < 1u << samples.count(); ++mask) {
        double cost = 0;
        for (std::size_t v = 0; v < samples.count(); ++v) {
            const std::size_t sample = v < positives ? pairs.positive(v) : pairs.negative(v - positives);
            cost += (mask >> v & 1) != 0 ? samples.cost(sample) : 0;
        }
        if (cost > std::max(cover.cost, limit)) {
            continue;
        }
        bool covers = true;
        for (std::size_t i = 0; i < positives && covers; ++i) {
            for (std::size_t j = 0; j < pairs.negatives() && covers; ++j) {
                covers = !has(pairs, level, i, j) || (mask >> i & 1) != 0 || (mask >> (positives + j) & 1) != 0;
            }
        }
        if (covers) {
            cover.cost = std::min(cover.cost, cost);
            if (cost <= limit) {
                cover.masks.push_back(mask);
            }
        }
    }
    return cover;
}

// Whether a cover agrees with the decisions.
void check_closure(const ConflictClosure& closure, const PairConflicts& pairs, std::uint32_t mask) {
    const std::size_t positives = pairs.positives();
    for (std::size_t i = 0; i < positives; ++i) {
        CHECK(closure.positive_kept[i] == 0 || (mask >> i & 1) == 0);
        CHECK(closure.positive_given_up[i] == 0 || (mask >> i & 1) != 0);
    }
    for (std::size_t j = 0; j < pairs.negatives(); ++j) {
        CHECK(closure.negative_kept[j] == 0 || (mask >> (positives + j) & 1) == 0);
        CHECK(closure.negative_given_up[j] == 0 || (mask >> (positives + j) & 1) != 0);
    }
}

template <typename Kind>
void check_cover(const Samples& samples, const PairConflicts& pairs, const PairConflicts::Level& level,
                 Random& random) {
    Kind kind(samples, pairs);
    typename Kind::State state;
    kind.start(state);
    kind.grow(level, state, std::numeric_limits<double>::infinity());
    const double expected = cheapest_cover(pairs, level, samples, 0).cost;
    CHECK_NEAR(kind.cost(state), expected, 1e-8 * expected);
    const double slack = samples.cost(0) * (0.05 + random.uniform());
    ConflictClosure closure;
    kind.close(level, state, slack, closure);
    CHECK(!closure.contradictory());
    // The decisions hold in every cover that exceeds the least cost by less than the slack.
    for (const std::uint32_t mask :
         cheapest_cover(pairs, level, samples, (kind.cost(state) + slack) * (1 - 1e-9)).masks) {
        check_closure(closure, pairs, mask);
    }
}

// Every sample that can be unmatched is released, and the decisions then hold in every cover with one more sample
// that gives it up and keeps some others.
void check_covers_with_one_more(const Samples& samples, const PairConflicts& pairs,
                                const PairConflicts::Level& level, Random& random) {
    ConflictMatching matching(samples, pairs);
    ConflictMatching::State state;
    matching.start(state);
    matching.grow(level, state, std::numeric_limits<double>::infinity());
    const double limit = matching.cost(state) + 1.5 * matching.cost_of(1);
    const std::vector<std::uint32_t> covers = cheapest_cover(pairs, level, samples, limit).masks;
    const auto bit_of = [&](std::size_t sample) {
        return 1u << (pairs.number(sample) + (samples.label(sample) > 0 ? 0 : pairs.positives()));
    };
    for (std::size_t sample = 0; sample < samples.count(); ++sample) {
        ConflictMatching::State released = state;
        // A sample in one of the cheapest covers is matched in every maximum matching.
        const bool essential = std::any_of(covers.begin(), covers.end(), [&](std::uint32_t mask) {
            return static_cast<std::size_t>(std::popcount(mask)) == state.size && (mask & bit_of(sample)) != 0;
        });
        CHECK(matching.release(level, released, sample) == !essential);
        if (essential) {
            continue;
        }
        CHECK(matching.cost(released) == matching.cost(state));
        std::vector<std::size_t> kept;
        std::uint32_t kept_bits = 0;
        for (std::size_t other = 0; other < samples.count(); ++other) {
            if (other != sample && random.below(4) == 0) {
                kept.push_back(other);
                kept_bits |= bit_of(other);
            }
        }
        ConflictClosure closure;
        matching.close_exactly(level, released, {}, {{sample}}, kept, closure);
        for (const std::uint32_t mask : covers) {
            if ((mask & bit_of(sample)) != 0 && (mask & kept_bits) == 0) {
                CHECK(!closure.contradictory());
                check_closure(closure, pairs, mask);
            }
        }
    }
}

// Disjoint sets of two to four unmatched samples.
std::vector<MustHitSet> random_sets(const Samples& samples, const ConflictMatching& matching,
                                    const ConflictMatching::State& state, Random& random) {
    std::vector<MustHitSet> sets;
    for (std::uint32_t sample = 0; sample < samples.count(); ++sample) {
        if (matching.matched(state, sample) || random.below(3) == 0) {
            continue;
        }
        if (sets.empty() || sets.back().size() == 2 + random.below(3)) {
            sets.emplace_back();
        }
        sets.back().push_back(sample);
    }
    return sets;
}

std::uint32_t bit_of(const PairConflicts& pairs, const Samples& samples, std::size_t sample) {
    return 1u << (pairs.number(sample) + (samples.label(sample) > 0 ? 0 : pairs.positives()));
}

bool hits_all(const PairConflicts& pairs, const Samples& samples, std::span<const MustHitSet> sets,
              std::uint32_t mask) {
    return std::all_of(sets.begin(), sets.end(), [&](const MustHitSet& set) {
        return std::any_of(set.begin(), set.end(),
                           [&](std::uint32_t sample) { return (mask & bit_of(pairs, samples, sample)) != 0; });
    });
}

void check_matching(const PairConflicts& pairs, const PairConflicts::Level& level,
                    const ConflictMatching::State& state) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < pairs.positives(); ++i) {
        if (const std::int32_t j = state.partner_of_positive[i]; j >= 0) {
            CHECK(state.partner_of_negative[static_cast<std::size_t>(j)] == static_cast<std::int32_t>(i));
            CHECK(has(pairs, level, i, static_cast<std::size_t>(j)));
            ++size;
        }
    }
    for (std::size_t j = 0; j < pairs.negatives(); ++j) {
        const std::int32_t i = state.partner_of_negative[j];
        CHECK(i < 0 || state.partner_of_positive[static_cast<std::size_t>(i)] == static_cast<std::int32_t>(j));
    }
    CHECK(size == state.size);
}

// The decisions hold in every cover that hits all sets with as many samples as there are pairs and sets, or with
// one more that is given up in addition.
void check_covers_with_sets(const Samples& samples, const PairConflicts& pairs, const PairConflicts::Level& level,
                            Random& random) {
    ConflictMatching matching(samples, pairs);
    ConflictMatching::State state;
    matching.start(state);
    // Fewer pairs leave more samples for sets.
    matching.grow(level, state, matching.cost_of(random.below(4)));
    const std::vector<MustHitSet> sets = random_sets(samples, matching, state, random);
    const std::size_t least = state.size + sets.size();
    std::vector<std::uint32_t> covers = cheapest_cover(pairs, level, samples, matching.cost_of(least + 1)).masks;
    std::erase_if(covers, [&](std::uint32_t mask) { return !hits_all(pairs, samples, sets, mask); });
    ConflictClosure closure;
    matching.close_exactly(level, state, sets, {}, {}, closure);
    for (const std::uint32_t mask : covers) {
        CHECK(static_cast<std::size_t>(std::popcount(mask)) >= least);
        if (static_cast<std::size_t>(std::popcount(mask)) == least) {
            CHECK(!closure.contradictory());
            check_closure(closure, pairs, mask);
        }
    }
    for (std::size_t sample = 0; sample < samples.count(); ++sample) {
        const bool in_set = std::any_of(sets.begin(), sets.end(), [&](const MustHitSet& set) {
            return std::find(set.begin(), set.end(), sample) != set.end();
        });
        ConflictMatching::State released = state;
        if (in_set || !matching.release(level, released, sample, sets)) {
            continue;
        }
        check_matching(pairs, level, released);
        CHECK(released.size == state.size);
        CHECK(!matching.matched(released, sample));
        for (const MustHitSet& set : sets) {
            for (const std::uint32_t member : set) {
                CHECK(!matching.matched(released, member));
            }
        }
        matching.close_exactly(level, released, sets, {{sample}}, {}, closure);
        for (const std::uint32_t mask : covers) {
            if ((mask & bit_of(pairs, samples, sample)) != 0) {
                CHECK(!closure.contradictory());
                check_closure(closure, pairs, mask);
            }
        }
    }
}

// With sets the matching is as large as if their samples did not exist, and an exchange keeps its size.
void check_matchings_beside_sets(const Samples& samples, const PairConflicts& pairs,
                                 const PairConflicts::Level& level, Random& random) {
    ConflictMatching matching(samples, pairs);
    ConflictMatching::State state;
    matching.start(state);
    const std::vector<MustHitSet> sets = random_sets(samples, matching, state, random);
    matching.grow(level, state, std::numeric_limits<double>::infinity(), sets);
    PairConflicts::Level without = level;
    std::vector<double> margins(samples.count());
    for (std::size_t sample = 0; sample < samples.count(); ++sample) {
        margins[sample] = random.normal() + 1;
    }
    const auto check_unmatched = [&] {
        for (const MustHitSet& set : sets) {
            for (const std::uint32_t sample : set) {
                CHECK(!matching.matched(state, sample));
            }
        }
    };
    for (const MustHitSet& set : sets) {
        for (const std::uint32_t sample : set) {
            const std::size_t number = pairs.number(sample);
            for (std::size_t i = 0; i < pairs.positives(); ++i) {
                std::uint64_t& row = without.conflicts[i * pairs.words()];
                row = samples.label(sample) < 0 ? row & ~(std::uint64_t{1} << number) : i == number ? 0 : row;
            }
        }
    }
    check_matching(pairs, level, state);
    check_unmatched();
    CHECK(matching.cost(state) == cheapest_cover(pairs, without, samples, 0).cost);
    const auto missed_pairs = [&] {
        std::size_t count = 0;
        for (std::size_t i = 0; i < pairs.positives(); ++i) {
            const std::int32_t j = state.partner_of_positive[i];
            count += j >= 0 && margins[pairs.positive(i)] < 1 &&
                     margins[pairs.negative(static_cast<std::size_t>(j))] < 1;
        }
        return count;
    };
    const std::size_t size = state.size;
    const std::size_t missed = missed_pairs();
    const std::size_t exchanged = matching.exchange(level, state, sets, margins);
    CHECK(state.size == size);
    check_matching(pairs, level, state);
    check_unmatched();
    CHECK(exchanged <= missed);
    CHECK(missed_pairs() <= missed);
}

// The opponents that a matching with certain samples gives a partner, each once, and only conflicting ones.
void check_matching_with_certain(const Samples& samples, const PairConflicts& pairs,
                                 const PairConflicts::Level& level, const ConflictMatching::State& state) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < pairs.positives(); ++i) {
        const std::int32_t j = state.partner_of_positive[i];
        CHECK(j < 0 || has(pairs, level, i, static_cast<std::size_t>(j)));
        CHECK(j < 0 || !samples.certain(pairs.positive(i)));
        size += j >= 0;
    }
    for (std::size_t j = 0; j < pairs.negatives(); ++j) {
        const std::int32_t i = state.partner_of_negative[j];
        CHECK(i < 0 || has(pairs, level, static_cast<std::size_t>(i), j));
        CHECK(i < 0 || !samples.certain(pairs.negative(j)));
        size += i >= 0 && samples.certain(pairs.positive(static_cast<std::size_t>(i)));
    }
    CHECK(size == state.size);
}

// Conflicts of any pairs of samples.
PairConflicts::Level random_level(PairConflicts& pairs, Random& random, std::size_t one_in) {
    PairConflicts::Level level;
    pairs.start(level);
    for (std::size_t i = 0; i < pairs.positives(); ++i) {
        for (std::size_t j = 0; j < pairs.negatives(); ++j) {
            level.conflicts[i * pairs.words()] |= static_cast<std::uint64_t>(random.below(one_in) == 0) << j;
        }
    }
    return level;
}

}  // namespace

TEST(certain_samples_are_in_no_cover) {
    Random random(83);
    int possible = 0;
    for (int trial = 0; trial < 600; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 10, 3);
        constexpr double upper = 500;
        for (double& cost : problem.costs) {
            cost = random.below(4) == 0 ? 2 * upper : 2.0;
        }
        const Samples samples(problem.features, problem.labels, problem.costs, upper);
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        if (pairs.positives() == 0 || pairs.negatives() == 0 || samples.common_cost() == 0) {
            continue;
        }
        const PairConflicts::Level level = random_level(pairs, random, 3);
        const double expected = cheapest_cover(pairs, level, samples, 0).cost;
        ConflictMatching matching(samples, pairs);
        ConflictMatching::State state;
        matching.start(state);
        matching.grow(level, state, std::numeric_limits<double>::infinity());
        if (expected >= upper) {
            CHECK(matching.cost(state) == std::numeric_limits<double>::infinity());
            continue;
        }
        ++possible;
        CHECK(matching.cost(state) == expected);
        check_matching_with_certain(samples, pairs, level, state);
        const std::vector<std::uint32_t> covers = cheapest_cover(pairs, level, samples, expected + 2).masks;
        ConflictClosure closure;
        matching.close_exactly(level, state, {}, {}, {}, closure);
        CHECK(!closure.contradictory());
        for (const std::uint32_t mask : covers) {
            if (static_cast<std::size_t>(std::popcount(mask)) == state.size) {
                check_closure(closure, pairs, mask);
            }
        }
        for (std::size_t sample = 0; sample < samples.count(); ++sample) {
            ConflictMatching::State released = state;
            if (samples.certain(sample) || !matching.release(level, released, sample)) {
                continue;
            }
            check_matching_with_certain(samples, pairs, level, released);
            matching.close_exactly(level, released, {}, {{sample}}, {}, closure);
            for (const std::uint32_t mask : covers) {
                if ((mask & bit_of(pairs, samples, sample)) != 0) {
                    CHECK(!closure.contradictory());
                    check_closure(closure, pairs, mask);
                }
            }
        }
        std::vector<double> margins(samples.count());
        for (double& margin : margins) {
            margin = random.normal() + 1;
        }
        matching.exchange(level, state, {}, margins);
        CHECK(matching.cost(state) == expected);
        check_matching_with_certain(samples, pairs, level, state);
    }
    CHECK(possible > 100);
}

TEST(covers_cost_what_enumeration_says_and_closures_hold) {
    Random random(82);
    for (int trial = 0; trial < 400; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 10, 3);
        const bool equal = trial % 2 == 0;
        for (double& cost : problem.costs) {
            cost = equal ? 2.0 : std::pow(10.0, (trial % 4 == 1 ? 12 : 1) * random.uniform());
        }
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        if (pairs.positives() == 0 || pairs.negatives() == 0) {
            continue;
        }
        PairConflicts::Level level;
        pairs.start(level);
        for (std::size_t i = 0; i < pairs.positives(); ++i) {
            for (std::size_t j = 0; j < pairs.negatives(); ++j) {
                level.conflicts[i * pairs.words()] |= static_cast<std::uint64_t>(random.below(2)) << j;
            }
        }
        if (equal) {
            check_cover<ConflictMatching>(samples, pairs, level, random);
            check_covers_with_one_more(samples, pairs, level, random);
            check_covers_with_sets(samples, pairs, level, random);
            check_matchings_beside_sets(samples, pairs, level, random);
        }
        check_cover<ConflictFlow>(samples, pairs, level, random);
    }
}
