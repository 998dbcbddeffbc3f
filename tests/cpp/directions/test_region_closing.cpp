#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/objective.h"
#include "base/random.h"
#include "check.h"
#include "directions/frame.h"
#include "directions/matching.h"
#include "directions/pair_conflicts.h"
#include "directions/region_closing.h"
#include "directions/region_packing.h"
#include "qp/max_margin.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

const Objective plain;

// Whether a hyperplane is clearly inside the region.
bool contains(const DirectionNode& region, const std::vector<double>& weights) {
    double length = 0;
    for (const double weight : weights) {
        length = std::hypot(length, weight);
    }
    const double scale = region.sign * weights[region.face];
    if (!(scale > 0) || length < region.shortest * (1 + 1e-9) || length > region.longest * (1 - 1e-9)) {
        return false;
    }
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const double s = weights[k] / scale;
        if (k != region.face && (s < region.low[k] + 1e-9 || s > region.high[k] - 1e-9)) {
            return false;
        }
    }
    return true;
}

// A region with a hyperplane in it.
DirectionNode region_about(const std::vector<double>& weights, Random& random) {
    DirectionNode region;
    double length = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        length = std::hypot(length, weights[k]);
        region.face =
            std::fabs(weights[k]) > std::fabs(weights[region.face]) ? static_cast<std::uint32_t>(k) : region.face;
    }
    const double largest = weights[region.face];
    region.sign = largest > 0 ? 1 : -1;
    const double width = std::pow(10.0, -1.5 * random.uniform());
    for (const double weight : weights) {
        const double s = weight / std::fabs(largest);
        region.low.push_back(std::max(-1.0, s - width * random.uniform()));
        region.high.push_back(std::min(1.0, s + width * random.uniform()));
    }
    region.low[region.face] = region.high[region.face] = region.sign;
    region.longest = length * (1.001 + random.uniform());
    region.shortest = random.below(2) == 0 ? 0 : length * random.uniform();
    return region;
}

double least_objective(const std::vector<testing::EnumeratedHyperplane>& hyperplanes) {
    double least = std::numeric_limits<double>::infinity();
    for (const testing::EnumeratedHyperplane& hyperplane : hyperplanes) {
        least = std::min(least, hyperplane.objective);
    }
    return least;
}

// Disjoint sets of unmatched samples of which each of the hyperplanes gives up at least one.
RegionSets sets_that_all_hit(const std::vector<testing::EnumeratedHyperplane>& hyperplanes,
                             const ConflictMatching& matching, const ConflictMatching::State& state,
                             Random& random) {
    RegionSets known;
    MustHitSet set;
    for (std::uint32_t sample = 0; !hyperplanes.empty() && sample < hyperplanes[0].kept.size(); ++sample) {
        if (matching.matched(state, sample) || random.below(4) == 0) {
            continue;
        }
        set.push_back(sample);
        const bool hit = std::all_of(hyperplanes.begin(), hyperplanes.end(), [&](const auto& hyperplane) {
            return std::any_of(set.begin(), set.end(),
                               [&](std::uint32_t member) { return !hyperplane.kept[member]; });
        });
        if (hit) {
            known.sets.push_back(std::move(set));
            set.clear();
        }
    }
    return known;
}

struct Checked {
    std::size_t sets = 0;
    std::size_t better = 0;
    std::size_t inherited = 0;
    std::size_t hits = 0;  // of sets by better hyperplanes
};

}  // namespace

// All enumerated hyperplanes in the region that are better than the upper bound give up a sample of every pair and
// every set, in the region and in a part of it. If no set is missing, there are none.
TEST(better_hyperplanes_of_a_region_give_up_a_sample_of_every_set) {
    Random random(91);
    Checked checked;
    for (int trial = 0; trial < 4000; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        const double cost = std::pow(10.0, 3 * random.uniform() - 1);
        std::fill(problem.costs.begin(), problem.costs.end(), cost);
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        const std::vector<testing::EnumeratedHyperplane> all = testing::enumerated_hyperplanes(problem);
        if (pairs.positives() == 0 || pairs.negatives() == 0 || all.empty()) {
            continue;
        }
        const double upper = least_objective(all) * (1 + random.uniform());
        const testing::EnumeratedHyperplane& centre = all[random.below(all.size())];
        if (!(centre.objective < 3 * upper)) {
            continue;
        }
        DirectionNode region = region_about(centre.weights, random);
        ConflictMatching matching(samples, pairs);
        MaxMargin solver(samples);
        RegionPacking packing(samples, frame, pairs, matching, solver);
        PairConflicts::Level around;
        ConflictMatching::State state;
        RegionSets known;
        pairs.arrange(region);
        pairs.start(around);
        matching.start(state);
        for (int part = 0; part < 3; ++part) {
            PairConflicts::Level level;
            pairs.decide(region, around, level);
            matching.grow(level, state, matching.cost_of(random.below(3)));
            const double norm = 0.5 * region.shortest * region.shortest;
            const std::size_t missing = matching.missing(state, upper - norm);
            CHECK(safely_below(matching.cost_of(state.size + missing)) >= upper - norm);
            CHECK(missing == 0 || safely_below(matching.cost_of(state.size + missing - 1)) < upper - norm);
            RegionSets found;
            const bool closed = packing.find(region, level, state, missing, {plain, upper}, known, found);
            std::set<std::uint32_t> members;
            for (const MustHitSet& set : found.sets) {
                for (const std::uint32_t sample : set) {
                    CHECK(members.insert(sample).second);
                    CHECK(!matching.matched(state, sample));
                }
                checked.inherited += std::find(known.sets.begin(), known.sets.end(), set) != known.sets.end();
            }
            checked.sets += found.sets.size();
            for (const testing::EnumeratedHyperplane& hyperplane : all) {
                if (!(hyperplane.objective < upper * (1 - 1e-8)) || !contains(region, hyperplane.weights)) {
                    continue;
                }
                CHECK(!closed);
                ++checked.better;
                checked.hits += found.sets.size();
                for (const MustHitSet& set : found.sets) {
                    CHECK(std::any_of(set.begin(), set.end(),
                                      [&](std::uint32_t sample) { return !hyperplane.kept[sample]; }));
                }
                const auto given_up =
                    static_cast<std::size_t>(std::count(hyperplane.kept.begin(), hyperplane.kept.end(), false));
                CHECK(given_up >= state.size + found.sets.size());
            }
            around = level;
            known = found;
            for (std::size_t k = 0; k < region.low.size(); ++k) {
                const double middle = region.low[k] + (region.high[k] - region.low[k]) * random.uniform();
                const double s = centre.weights[k] / std::fabs(centre.weights[region.face]);
                if (k != region.face) {
                    (s > middle ? region.low : region.high)[k] = middle;
                }
            }
        }
    }
    CHECK(checked.sets > 500);
    CHECK(checked.better > 500);
    CHECK(checked.inherited > 500);
    CHECK(checked.hits > 1000);
}

// A region that contains a better hyperplane is not closed, for any number of missing samples and any known sets.
TEST(regions_with_better_hyperplanes_are_not_closed) {
    Random random(92);
    std::size_t better = 0;
    std::size_t with_sets = 0;
    std::size_t closed = 0;
    for (int trial = 0; trial < 6000; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        std::fill(problem.costs.begin(), problem.costs.end(), std::pow(10.0, 3 * random.uniform() - 1));
        const Samples samples = problem.samples();
        const DirectionFrame frame(samples, {}, 0);
        PairConflicts pairs(samples, frame);
        const std::vector<testing::EnumeratedHyperplane> all = testing::enumerated_hyperplanes(problem);
        if (pairs.positives() == 0 || pairs.negatives() == 0 || all.empty()) {
            continue;
        }
        const testing::EnumeratedHyperplane& centre = all[random.below(all.size())];
        const DirectionNode region = region_about(centre.weights, random);
        std::vector<testing::EnumeratedHyperplane> inside;
        for (const testing::EnumeratedHyperplane& hyperplane : all) {
            if (contains(region, hyperplane.weights)) {
                inside.push_back(hyperplane);
            }
        }
        if (inside.empty()) {
            continue;
        }
        // Slightly above or below the best objective in the region.
        const double best = least_objective(inside);
        const double upper = best + samples.cost(0) * (2 * random.uniform() - 0.3);
        std::erase_if(inside, [&](const testing::EnumeratedHyperplane& hyperplane) {
            return !(hyperplane.objective < upper * (1 - 1e-8));
        });
        double norm = 0.5 * region.shortest * region.shortest;
        ConflictMatching matching(samples, pairs);
        MaxMargin solver(samples);
        RegionClosing<ConflictMatching> closing(samples, frame, pairs, matching, solver, [](const MaxMargin&) {});
        PairConflicts::Level start;
        PairConflicts::Level level;
        ConflictMatching::State state;
        pairs.arrange(region);
        pairs.start(start);
        pairs.decide(region, start, level);
        matching.start(state);
        matching.grow(level, state, random.below(2) == 0 ? 1e300 : matching.cost_of(random.below(4)));
        if (upper <= norm || matching.missing(state, upper - norm) == 0) {
            continue;
        }
        RegionSets found;
        const RegionSets around =
            trial % 3 == 0 ? RegionSets{} : sets_that_all_hit(inside, matching, state, random);
        const bool says_closed = closing.closes(region, level, state, norm, {plain, upper}, true, around, found);
        closed += says_closed;
        if (!inside.empty()) {
            CHECK(!says_closed);
            ++better;
            with_sets += !found.sets.empty();
        }
    }
    CHECK(better > 1000);
    CHECK(with_sets > 300);
    CHECK(closed > 30);
}
