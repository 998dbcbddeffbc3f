#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "directions/frame.h"
#include "directions/pair_conflicts.h"
#include "directions/regions.h"
#include "random_problems.h"

using namespace hardmargin;
using testing::has;
using testing::random_region;

namespace {

// A part of the region, to test inheritance.
DirectionNode part_of(DirectionNode region, Random& random) {
    for (std::size_t k = 0; k < region.low.size(); ++k) {
        const double middle = 0.5 * (region.low[k] + region.high[k]);
        (random.below(2) == 0 ? region.low : region.high)[k] = middle;
    }
    return region;
}

// The difference d of a pair.
std::vector<long double> difference_of(const testing::RandomProblem& problem, const PairConflicts& pairs,
                                       std::size_t i, std::size_t j) {
    const std::size_t dimension = problem.features.size() / problem.labels.size();
    std::vector<long double> difference;
    for (std::size_t k = 0; k < dimension; ++k) {
        difference.push_back(static_cast<long double>(problem.features[pairs.positive(i) * dimension + k]) -
                             problem.features[pairs.negative(j) * dimension + k]);
    }
    return difference;
}

// s.d - 2 ||s|| / length: negative if no hyperplane of this length along s keeps both samples of a pair, d apart.
long double excess(const std::vector<long double>& d, const std::vector<long double>& s, double length) {
    long double product = 0;
    long double squared = 0;
    for (std::size_t k = 0; k < d.size(); ++k) {
        product += s[k] * d[k];
        squared += s[k] * s[k];
    }
    return product - 2 * std::sqrt(squared) / length;
}

// The maximum over a region. The function is concave in s, so coordinate ascent finds it.
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

// The minimum over a region, attained at a corner.
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

// The undecided pairs as bits.
std::vector<std::uint64_t> undecided_pairs(const PairConflicts& pairs, const PairConflicts::Level& level) {
    std::vector<std::uint64_t> bits(level.conflicts.size());
    for (const PairConflicts::Word& word : level.undecided) {
        bits[word.positive * pairs.words() + word.place] = word.pairs;
    }
    return bits;
}

// Checks what a level says about the pairs in a region that were undecided in the one around it, and returns how
// many of them are decided.
std::size_t check_decisions(const testing::RandomProblem& problem, const PairConflicts& pairs,
                            const PairConflicts::Level& around, const PairConflicts::Level& level,
                            const DirectionNode& region) {
    const std::vector<std::uint64_t> undecided_before = undecided_pairs(pairs, around);
    const std::vector<std::uint64_t> undecided = undecided_pairs(pairs, level);
    std::size_t decided = 0;
    for (std::size_t i = 0; i < pairs.positives(); ++i) {
        for (std::size_t j = 0; j < pairs.negatives(); ++j) {
            const std::size_t word = i * pairs.words() + j / 64;
            if ((undecided_before[word] >> (j % 64) & 1) == 0) {
                continue;
            }
            const std::vector<long double> difference = difference_of(problem, pairs, i, j);
            const bool open = (undecided[word] >> (j % 64) & 1) != 0;
            if (has(pairs, level, i, j)) {
                CHECK(largest_excess(difference, region) < 0);
            } else if (!open) {
                CHECK(smallest_excess(difference, region) >= 0);
            }
            decided += !open;
        }
    }
    return decided;
}

// Checks that no range of an undecided pair ends too early: the maximum of s.d - k ||s||^2 over the box, and the
// offset.
void check_ends(const testing::RandomProblem& problem, const PairConflicts& pairs,
                const PairConflicts::Level& level) {
    const PairConflicts::Ends& ends = level.ends;
    const long double curvature = ends.curvature;
    for (std::size_t place = 0; place < level.undecided.size(); ++place) {
        const PairConflicts::Word& word = level.undecided[place];
        for (std::size_t bit = 0; bit < 64; ++bit) {
            if ((word.pairs >> bit & 1) == 0) {
                continue;
            }
            const std::vector<long double> d = difference_of(problem, pairs, word.positive, word.place * 64 + bit);
            long double largest = ends.offset;
            for (std::size_t k = 0; k < d.size(); ++k) {
                const long double best = std::clamp<long double>(d[k] / (2 * curvature), ends.low[k], ends.high[k]);
                largest += best * (d[k] - curvature * best);
            }
            CHECK(ends.values[place * 64 + bit] >= largest);
        }
    }
}

std::size_t count_conflicts(const PairConflicts::Level& level) {
    std::size_t count = 0;
    for (const std::uint64_t bits : level.conflicts) {
        count += static_cast<std::size_t>(std::popcount(bits));
    }
    return count;
}

// One of the halves that a search makes of a region: of a coordinate, or of the lengths.
DirectionNode half_of(DirectionNode region, Random& random) {
    const std::size_t k = random.below(region.low.size() + 1);
    const bool low = random.below(2) == 0;
    if (k == region.low.size()) {
        (low ? region.longest : region.shortest) = 0.5 * (region.shortest + region.longest);
    } else {
        (low ? region.high : region.low)[k] = 0.5 * (region.low[k] + region.high[k]);
    }
    return region;
}

// Two classes that overlap, with two features, and a region of directions between them.
struct OverlappingClasses {
    OverlappingClasses(std::uint64_t seed, std::size_t count) : problem(classes(seed, count)) {
        region.low = {1, -0.1};
        region.high = {1, 0.1};
        region.longest = 3;
        pairs.arrange(region);
        pairs.start(start);
    }

    static testing::RandomProblem classes(std::uint64_t seed, std::size_t count) {
        Random random(seed);
        testing::RandomProblem problem{"two overlapping classes", count, 2, {}, {}, {}};
        for (std::size_t i = 0; i < count; ++i) {
            problem.labels.push_back(i % 2 == 0 ? 1.0 : -1.0);
            problem.features.push_back(problem.labels.back() + random.normal());
            problem.features.push_back(random.normal());
            problem.costs.push_back(1.0);
        }
        return problem;
    }

    testing::RandomProblem problem;
    Samples samples = problem.samples();
    DirectionFrame frame = DirectionFrame(samples, {}, 0);
    PairConflicts pairs = PairConflicts(samples, frame);
    DirectionNode region;
    PairConflicts::Level start;
};

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
        // The greatest length may fall more than once.
        for (std::uint64_t times = random.below(3); times > 0; --times) {
            part.longest = std::max(part.shortest, part.longest * (0.5 + 0.5 * random.uniform()));
            if (trial % 2 == 0) {
                pairs.decide(part, level, level);
            } else {
                pairs.shorten(part, level);
            }
        }
        decided += check_decisions(problem, pairs, start, level, part);
    }
    CHECK(decided > 1000);
}

// From the second region on, only one coordinate is compared, until all are compared again.
TEST(pairs_are_decided_rightly_in_parts_of_parts) {
    Random random(87);
    std::size_t by_one_coordinate[2] = {0, 0};  // without and with insets
    std::size_t found_in_parts = 0;
    std::size_t found_again = 0;
    for (int trial = 0; trial < 600; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 60, 5);
        if (trial % 4 == 0) {
            problem.features[0] *= 1e6;
        }
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        DirectionNode region = random_region(random, samples.dimension());
        if (trial % 2 == 0) {
            // The wider the box, the more the squares matter.
            for (std::size_t k = 0; k < samples.dimension(); ++k) {
                region.low[k] = k == region.face ? region.low[k] : -random.uniform();
                region.high[k] = k == region.face ? region.high[k] : random.uniform();
            }
        }
        pairs.arrange(region);
        std::vector<PairConflicts::Level> levels(1 + random.below(14));
        PairConflicts::Level start;
        pairs.start(start);
        pairs.decide(region, start, levels[0]);
        check_decisions(problem, pairs, start, levels[0], region);
        check_ends(problem, pairs, levels[0]);
        for (std::size_t depth = 1; depth < levels.size(); ++depth) {
            region = half_of(region, random);
            pairs.decide(region, levels[depth - 1], levels[depth]);
            if (levels[depth].ends.parts_left + 1 == levels[depth - 1].ends.parts_left) {
                ++by_one_coordinate[levels[depth].ends.with_insets ? 1 : 0];
            }
            check_ends(problem, pairs, levels[depth]);
            if (random.below(4) == 0) {
                region.longest = std::max(region.shortest, region.longest * (0.8 + 0.2 * random.uniform()));
                pairs.shorten(region, levels[depth]);
            }
            check_decisions(problem, pairs, levels[depth - 1], levels[depth], region);
        }
        PairConflicts::Level again;
        pairs.decide(region, start, again);
        found_in_parts += count_conflicts(levels.back());
        found_again += count_conflicts(again);
    }
    CHECK(by_one_coordinate[0] > 300);
    CHECK(by_one_coordinate[1] > 300);
    CHECK(found_again > 10000);
    CHECK(found_in_parts > found_again / 100 * 98);
}

// In the outer half of the box, with the curvature of the whole, the longest directions need less than the
// shortest. Only one of them keeps both samples: (1, 1), for which s.d = 1.42 and ||s|| = 1.414 is needed.
TEST(pairs_that_only_the_longest_directions_of_a_part_keep_are_undecided) {
    const testing::RandomProblem problem{"two samples", 2, 2, {0.5, 0.92, 0, 0}, {1, -1}, {1, 1}};
    const Samples samples = problem.samples();
    const DirectionFrame frame(samples, {}, 0);
    PairConflicts pairs(samples, frame);
    DirectionNode region;
    region.low = {1, 0};
    region.high = {1, 1};
    region.longest = 2;
    PairConflicts::Level start;
    PairConflicts::Level around;
    PairConflicts::Level level;
    pairs.start(start);
    pairs.decide(region, start, around);
    region.low[1] = 0.5;
    pairs.decide(region, around, level);
    CHECK(level.ends.parts_left + 1 == around.ends.parts_left);
    CHECK(level.undecided.size() == 1);
}

// The bound on ||s|| is too low by at most (h - l)^2 / (4 (l + h)), in the middle between the least and the
// greatest length, and the one on g t - k t^2 is too high by at most k r^2 / 4, unless the insets are left out.
TEST(pairs_that_clearly_conflict_are_found) {
    Random random(86);
    std::size_t found = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 60, 5);
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        const DirectionNode region = random_region(random, samples.dimension());
        PairConflicts::Level start;
        PairConflicts::Level level;
        pairs.start(start);
        pairs.decide(region, start, level);
        const double least = region.least_length();
        const double greatest = region.greatest_length();
        const double curvature = 2 / region.longest / (least + greatest);
        double error = curvature * (greatest - least) * (greatest - least) / 4;
        for (std::size_t k = 0; k < samples.dimension(); ++k) {
            const double radius = (region.high[k] - region.low[k]) / 2;
            error += curvature * radius * radius / 4 + 1e-3 * radius * pairs.typical_difference(k);
        }
        for (std::size_t i = 0; i < pairs.positives(); ++i) {
            for (std::size_t j = 0; j < pairs.negatives(); ++j) {
                const std::vector<long double> difference = difference_of(problem, pairs, i, j);
                long double rounding = 1e-5L * 2 / region.longest * greatest;
                for (std::size_t k = 0; k < samples.dimension(); ++k) {
                    rounding += 1e-5L * (std::fabs(frame.coordinate(pairs.positive(i), k)) +
                                         std::fabs(frame.coordinate(pairs.negative(j), k)));
                }
                if (largest_excess(difference, region) < -(error + rounding)) {
                    CHECK(has(pairs, level, i, j));
                    ++found;
                }
            }
        }
    }
    CHECK(found > 1000);
}

// Comparing all pairs again finds everything that shorten() finds, and little more in a small box.
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

// With so many pairs, only the level that was decided last has their ends.
TEST(a_length_that_falls_finds_the_same_whichever_level_was_decided_last) {
    OverlappingClasses classes(88, 1400);
    PairConflicts& pairs = classes.pairs;
    DirectionNode other = classes.region;
    other.high[1] = 0;
    DirectionNode shorter = classes.region;
    shorter.longest = 2.5;
    PairConflicts::Level last;
    PairConflicts::Level earlier;
    PairConflicts::Level part;
    pairs.decide(classes.region, classes.start, last);
    CHECK(!last.ends.stored);
    pairs.shorten(shorter, last);
    pairs.decide(classes.region, classes.start, earlier);
    pairs.decide(other, earlier, part);
    pairs.shorten(shorter, earlier);
    CHECK(check_decisions(classes.problem, pairs, classes.start, last, shorter) > 1000);
    CHECK(check_decisions(classes.problem, pairs, classes.start, earlier, shorter) > 1000);
    CHECK(check_decisions(classes.problem, pairs, classes.start, part, other) > 1000);
}

// A level that starts again knows nothing, and nothing of an earlier order of the samples.
TEST(levels_start_again_after_samples_are_sorted_along_another_direction) {
    OverlappingClasses classes(89, 60);
    PairConflicts& pairs = classes.pairs;
    classes.region.low[1] = -1;
    classes.region.high[1] = 1;
    PairConflicts::Level around = classes.start;
    pairs.decide(classes.region, around, around);
    DirectionNode half = classes.region;
    half.low[1] = 0;
    pairs.arrange(half);
    pairs.start(classes.start);
    pairs.start(around);
    PairConflicts::Level level;
    pairs.decide(half, around, level);
    check_decisions(classes.problem, pairs, classes.start, level, half);
}

TEST(a_comparison_that_is_stopped_leaves_the_other_pairs_undecided) {
    // More words of pairs than are compared between two calls of `stop`.
    OverlappingClasses classes(85, 18000);
    PairConflicts& pairs = classes.pairs;
    DirectionNode& region = classes.region;
    const PairConflicts::Level& start = classes.start;
    PairConflicts::Level complete;
    PairConflicts::Level stopped;
    pairs.decide(region, start, complete);
    int calls = 0;
    pairs.decide(region, start, stopped, [&calls] { return ++calls > 0; });
    CHECK(calls == 1);
    CHECK(stopped.undecided.size() > complete.undecided.size());
    std::size_t fewer = 0;
    for (std::size_t word = 0; word < complete.conflicts.size(); ++word) {
        CHECK((stopped.conflicts[word] & ~complete.conflicts[word]) == 0);
        fewer += stopped.conflicts[word] != complete.conflicts[word] ? 1 : 0;
    }
    CHECK(fewer > 0);
    // A later comparison decides what was left.
    region.longest = 2.9;
    PairConflicts::Level again;
    pairs.shorten(region, stopped);
    pairs.decide(region, complete, again);
    CHECK(stopped.conflicts == again.conflicts);
}
