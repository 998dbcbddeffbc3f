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
#include "random_problems.h"

using namespace hardmargin;

namespace {

DirectionNode random_region(Random& random, std::size_t dimension) {
    DirectionNode region;
    region.face = static_cast<std::uint32_t>(random.below(dimension));
    region.sign = random.below(2) == 0 ? 1 : -1;
    for (std::size_t k = 0; k < dimension; ++k) {
        const double width = std::pow(10.0, -5 * random.uniform());
        const double low = -1 + (2 - width) * random.uniform();
        region.low.push_back(k == region.face ? region.sign : low);
        region.high.push_back(k == region.face ? region.sign : low + width);
    }
    region.longest = std::pow(10.0, 2 - 4 * random.uniform());
    region.shortest = random.below(2) == 0 ? 0 : region.longest * random.uniform();
    return region;
}

// A part of the region, for inheriting.
DirectionNode part_of(DirectionNode region, Random& random) {
    for (std::size_t k = 0; k < region.low.size(); ++k) {
        const double middle = 0.5 * (region.low[k] + region.high[k]);
        (random.below(2) == 0 ? region.low : region.high)[k] = middle;
    }
    return region;
}

// s.d - 2 ||s|| / length: whether a hyperplane along s that is so long keeps both samples of a pair, d apart.
long double excess(const std::vector<long double>& d, const std::vector<long double>& s, double length) {
    long double product = 0;
    long double squared = 0;
    for (std::size_t k = 0; k < d.size(); ++k) {
        product += s[k] * d[k];
        squared += s[k] * s[k];
    }
    return product - 2 * std::sqrt(squared) / length;
}

// The largest one over a region. It is concave in s, so that improving one coordinate after the other leads there.
long double largest_excess(const std::vector<long double>& d, const DirectionNode& region) {
    std::vector<long double> s(region.low.begin(), region.low.end());
    const long double per_length = 2 / static_cast<long double>(region.longest);
    for (int round = 0; round < 60; ++round) {
        for (std::size_t k = 0; k < d.size(); ++k) {
            long double others = 0;
            for (std::size_t l = 0; l < d.size(); ++l) {
                others += l == k ? 0 : s[l] * s[l];
            }
            const long double slope = per_length * per_length - d[k] * d[k];
            const long double best = slope > 0 ? d[k] * std::sqrt(others / slope) : d[k] > 0 ? 1 : -1;
            s[k] = std::clamp<long double>(best, region.low[k], region.high[k]);
        }
    }
    return excess(d, s, region.longest);
}

// The smallest one over a region, at one of its corners.
long double smallest_excess(const std::vector<long double>& d, const DirectionNode& region) {
    long double smallest = std::numeric_limits<long double>::infinity();
    for (std::uint32_t corner = 0; corner < 1u << d.size(); ++corner) {
        std::vector<long double> s;
        for (std::size_t k = 0; k < d.size(); ++k) {
            s.push_back((corner >> k & 1) != 0 ? region.high[k] : region.low[k]);
        }
        smallest = std::min(smallest, excess(d, s, region.shortest));
    }
    return smallest;
}

bool has(const PairConflicts& pairs, const PairConflicts::Level& level, std::size_t i, std::size_t j) {
    return (level.conflicts[i * pairs.words() + j / 64] >> (j % 64) & 1) != 0;
}

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

// Whether a cover does what is decided.
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
    // What is decided holds in every cover that costs less than the slack more.
    for (const std::uint32_t mask :
         cheapest_cover(pairs, level, samples, (kind.cost(state) + slack) * (1 - 1e-9)).masks) {
        check_closure(closure, pairs, mask);
    }
}

// Every sample that can be left unmatched is, and what is decided then holds in every cover with one sample more
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
        // A sample that one of the cheapest covers gives up is matched in every maximum matching.
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

// What is decided holds in every cover that hits all sets, with as many samples as there are pairs and sets, or one
// more that is given up beside them.
void check_covers_with_sets(const Samples& samples, const PairConflicts& pairs, const PairConflicts::Level& level,
                            Random& random) {
    ConflictMatching matching(samples, pairs);
    ConflictMatching::State state;
    matching.start(state);
    // Fewer pairs leave more for sets.
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

// Beside sets the matching is as large as if their samples were not there; and exchanging keeps its size.
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

}  // namespace

TEST(decided_pairs_are_decided_rightly) {
    Random random(81);
    std::size_t decided = 0;
    for (int trial = 0; trial < 400; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 100, 5);
        if (trial % 3 == 0) {
            problem.features[0] *= 1e7;
        }
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        const DirectionNode whole = random_region(random, samples.dimension());
        DirectionNode part = part_of(whole, random);
        pairs.arrange(whole);
        PairConflicts::Level start;
        PairConflicts::Level around;
        PairConflicts::Level level;
        pairs.start(start);
        pairs.decide(whole, start, around);
        pairs.decide(part, around, level);
        // Better solutions may turn out to be shorter, more than once.
        for (std::uint64_t times = random.below(3); times > 0; --times) {
            part.longest = std::max(part.shortest, part.longest * (0.5 + 0.5 * random.uniform()));
            if (trial % 2 == 0) {
                pairs.decide(part, level, level);
            } else {
                pairs.shorten(part, level);
            }
        }
        std::vector<std::uint64_t> undecided(level.conflicts.size());
        for (const PairConflicts::Word& word : level.undecided) {
            undecided[word.positive * pairs.words() + word.place] = word.pairs;
        }
        for (std::size_t i = 0; i < pairs.positives(); ++i) {
            for (std::size_t j = 0; j < pairs.negatives(); ++j) {
                std::vector<long double> difference;
                for (std::size_t k = 0; k < samples.dimension(); ++k) {
                    difference.push_back(
                        static_cast<long double>(problem.features[pairs.positive(i) * samples.dimension() + k]) -
                        problem.features[pairs.negative(j) * samples.dimension() + k]);
                }
                const bool open = (undecided[i * pairs.words() + j / 64] >> (j % 64) & 1) != 0;
                if (has(pairs, level, i, j)) {
                    CHECK(largest_excess(difference, part) < 0);
                } else if (!open) {
                    CHECK(smallest_excess(difference, part) >= 0);
                }
                decided += !open;
            }
        }
    }
    CHECK(decided > 1000);
}

// Comparing all pairs again finds what is known of a shorter region at once, and little more in a small box.
TEST(a_length_that_falls_brings_the_conflicts_that_comparing_again_finds) {
    Random random(84);
    std::size_t compared = 0;
    std::size_t inferred = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 100, 5);
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        DirectionNode region = random_region(random, samples.dimension());
        for (std::size_t k = 0; k < samples.dimension(); ++k) {
            region.high[k] = region.low[k] + 0.01 * (region.high[k] - region.low[k]);
        }
        PairConflicts::Level start;
        PairConflicts::Level before;
        pairs.start(start);
        pairs.decide(region, start, before);
        region.longest = std::max(region.shortest, 0.7 * region.longest);
        PairConflicts::Level shortened = before;
        pairs.shorten(region, shortened);
        PairConflicts::Level again;
        pairs.decide(region, before, again);
        for (std::size_t word = 0; word < again.conflicts.size(); ++word) {
            CHECK((before.conflicts[word] & ~shortened.conflicts[word]) == 0);
            compared += static_cast<std::size_t>(std::popcount(again.conflicts[word] & ~before.conflicts[word]));
            inferred += static_cast<std::size_t>(
                std::popcount(again.conflicts[word] & shortened.conflicts[word] & ~before.conflicts[word]));
        }
    }
    CHECK(compared > 1000);
    CHECK(inferred > compared / 10 * 9);
}

TEST(the_rows_of_a_region_hold_in_it) {
    Random random(83);
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 10, 5);
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        const DirectionNode region = random_region(random, samples.dimension());
        const std::vector<ExtraRow> rows = frame.rows(region);
        CHECK(rows.size() == 2 * samples.dimension());
        for (int draw = 0; draw < 20; ++draw) {
            // Corners and ends of the lengths as often as points inside.
            const auto between = [&](double low, double high) {
                const double share = random.below(2) == 0 ? random.uniform() : static_cast<double>(random.below(2));
                return low + share * (high - low);
            };
            std::vector<double> w;
            double squared = 0;
            for (std::size_t k = 0; k < samples.dimension(); ++k) {
                w.push_back(between(region.low[k], region.high[k]));
                squared += w[k] * w[k];
            }
            const double factor = between(region.shortest, region.longest) / std::sqrt(squared);
            for (const ExtraRow& row : rows) {
                double value = 0;
                for (std::size_t k = 0; k < samples.dimension(); ++k) {
                    value += factor * w[k] * row.normal[k];
                }
                CHECK(value >= row.bound - 1e-13 * region.longest);
            }
        }
    }
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
