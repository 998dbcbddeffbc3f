#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "packing/cover_bound.h"
#include "qp/max_margin.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

// Learns some certificates of random samples and flips in both.
void learn(const Samples& samples, Random& random, CoverBound& first, CoverBound& second) {
    MaxMargin solver(samples);
    for (int round = 0; round < 40; ++round) {
        solver.clear();
        for (std::size_t i = 0; i < samples.count(); ++i) {
            if (random.uniform() < 0.6) {
                solver.enable(i);
            } else if (random.uniform() < 0.3) {
                solver.enable(solver.flip_row(i));
            }
        }
        const MaxMarginStatus status = solver.solve(0.05 + random.uniform());
        if (status == MaxMarginStatus::threshold || status == MaxMarginStatus::infeasible) {
            first.learn(solver);
            second.learn(solver);
        }
    }
}

// Decides more of the free samples.
void decide(std::vector<SampleStatus>& statuses, Random& random, double share) {
    for (SampleStatus& status : statuses) {
        if (status == SampleStatus::free && random.uniform() < share) {
            status = random.uniform() < 0.5 ? SampleStatus::kept : SampleStatus::given_up;
        }
    }
}

}  // namespace

TEST(what_a_subproblem_rules_out_is_valid_in_none_of_its_parts) {
    Random random(5);
    int selections = 0;
    for (int trial = 0; trial < 100; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        const Samples samples = problem.samples();
        CoverBound all(samples);
        CoverBound narrowed(samples);
        learn(samples, random, all, narrowed);
        const std::vector<SampleStatus> free(samples.count(), SampleStatus::free);
        all.begin(free);
        // One after the other: what one of them rules out may be valid in the next.
        for (int subproblem = 0; subproblem < 3; ++subproblem) {
            std::vector<SampleStatus> root = free;
            decide(root, random, 0.2);
            narrowed.begin(root);
            for (int part = 0; part < 4; ++part) {
                // Sets that are learnt in the middle count too.
                learn(samples, random, all, narrowed);
                std::vector<SampleStatus> statuses = root;
                decide(statuses, random, 0.3);
                const double room = 0.5 * random.uniform();
                const CoverBound::Validity validity = all.select(statuses, room);
                CHECK(narrowed.select(statuses, room) == validity);
                if (validity == CoverBound::Validity::open) {
                    CHECK_NEAR(narrowed.solve(), all.solve(), 1e-9);
                    ++selections;
                } else {
                    CHECK(narrowed.decisive_set() == all.decisive_set());
                }
            }
        }
    }
    CHECK(selections > 100);
}

TEST(sets_that_are_ruled_out_cost_nothing_later) {
    Random random(6);
    const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
    const Samples samples = problem.samples();
    CoverBound all(samples);
    CoverBound narrowed(samples);
    learn(samples, random, all, narrowed);
    CHECK(all.memory() > 0);
    all.begin(std::vector<SampleStatus>(samples.count(), SampleStatus::free));
    std::vector<SampleStatus> statuses(samples.count(), SampleStatus::given_up);
    statuses[0] = SampleStatus::free;
    narrowed.begin(statuses);
    for (int k = 0; k < 10; ++k) {
        // Decisions that change are looked at again.
        statuses[0] = k % 2 == 0 ? SampleStatus::kept : SampleStatus::given_up;
        all.select(statuses, 0.1);
        narrowed.select(statuses, 0.1);
    }
    CHECK(2 * narrowed.work() < all.work());
}

TEST(a_selection_does_not_depend_on_the_ones_before) {
    Random random(7);
    int selections = 0;
    int changes[4] = {};
    for (int trial = 0; trial < 100; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        const Samples samples = problem.samples();
        CoverBound used(samples);
        CoverBound fresh(samples);
        learn(samples, random, used, fresh);
        const std::vector<SampleStatus> root(samples.count(), SampleStatus::free);
        used.begin(root);
        std::vector<std::vector<SampleStatus>> path = {root};
        for (int step = 0; step < 20; ++step) {
            // As in a tree: nothing changes, a sample is given up or kept, or the last decision is undone.
            const std::size_t change = random.below(4);
            const std::size_t sample = random.below(samples.count());
            if (change == 3 && path.size() > 1) {
                path.pop_back();
            } else if ((change == 1 || change == 2) && path.back()[sample] == SampleStatus::free) {
                path.push_back(path.back());
                path.back()[sample] = change == 1 ? SampleStatus::given_up : SampleStatus::kept;
            } else if (change != 0) {
                continue;
            }
            ++changes[change];
            if (random.uniform() < 0.3) {
                learn(samples, random, used, fresh);
            }
            // The room may rise and fall.
            const double room = 0.5 * random.uniform();
            fresh.begin(root);
            const CoverBound::Validity validity = fresh.select(path.back(), room);
            CHECK(used.select(path.back(), room) == validity);
            if (validity == CoverBound::Validity::open) {
                CHECK_NEAR(used.solve(), fresh.solve(), 1e-9);
                ++selections;
            } else {
                CHECK(used.decisive_set() == fresh.decisive_set());
            }
        }
    }
    CHECK(selections > 300);
    for (const int count : changes) {
        CHECK(count > 100);
    }
}

TEST(sets_are_looked_at_once_for_what_is_given_up) {
    Random random(9);
    const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
    const Samples samples = problem.samples();
    CoverBound cover(samples);
    CoverBound other(samples);
    learn(samples, random, cover, other);
    std::vector<SampleStatus> statuses(samples.count(), SampleStatus::free);
    cover.begin(statuses);
    const std::uint64_t before = cover.work();
    cover.select(statuses, 0.1);
    const std::uint64_t once = cover.work();
    CHECK(once > before);
    statuses[0] = SampleStatus::kept;
    cover.select(statuses, 0.2);
    CHECK(cover.work() == once);
    statuses[1] = SampleStatus::given_up;
    cover.select(statuses, 0.2);
    CHECK(cover.work() > once);
}

// With so many samples that the bits of a set take several words.
TEST(the_first_set_with_at_most_one_free_sample_decides) {
    constexpr std::size_t count = 150;
    Random random(10);
    int counts[3] = {};
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<double> features(count);
        std::vector<double> labels(count);
        for (std::size_t i = 0; i < count; ++i) {
            features[i] = random.normal();
            labels[i] = random.uniform() < 0.5 ? 1.0 : -1.0;
        }
        const Samples samples(features, labels, std::vector<double>(count, 1.0));
        CoverBound cover(samples);
        MaxMargin solver(samples);
        std::vector<std::vector<std::size_t>> sets;
        for (std::size_t k = 1 + random.below(4); k > 0; --k) {
            solver.clear();
            for (int sample = 0; sample < 8; ++sample) {
                solver.enable(random.below(count));
            }
            const MaxMarginStatus status = solver.solve(1e-3);
            if (status == MaxMarginStatus::threshold || status == MaxMarginStatus::infeasible) {
                cover.learn(solver);
                sets.emplace_back();
                for (const Multiplier& multiplier : solver.certificate()) {
                    sets.back().push_back(multiplier.row);
                }
            }
        }
        std::vector<SampleStatus> statuses(count, SampleStatus::free);
        cover.begin(statuses);
        for (SampleStatus& status : statuses) {
            status = random.uniform() < 0.3 ? SampleStatus::kept : SampleStatus::free;
        }
        CoverBound::Validity expected = CoverBound::Validity::open;
        std::size_t forced = count;
        for (const std::vector<std::size_t>& set : sets) {
            std::vector<std::size_t> free;
            std::copy_if(set.begin(), set.end(), std::back_inserter(free),
                         [&](std::size_t sample) { return statuses[sample] == SampleStatus::free; });
            if (free.size() <= 1) {
                expected = free.empty() ? CoverBound::Validity::closed : CoverBound::Validity::forced;
                forced = free.empty() ? count : free[0];
                break;
            }
        }
        CHECK(cover.select(statuses, 1e-9) == expected);
        CHECK(expected != CoverBound::Validity::forced || cover.forced() == forced);
        ++counts[static_cast<int>(expected)];
    }
    for (const int seen : counts) {
        CHECK(seen > 20);
    }
}

TEST(a_trimmed_pool_is_looked_at_again) {
    Random random(6);
    for (int trial = 0; trial < 50; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        const Samples samples = problem.samples();
        CoverBound used(samples);
        CoverBound fresh(samples);
        learn(samples, random, used, fresh);
        const std::vector<SampleStatus> statuses(samples.count(), SampleStatus::free);
        used.begin(statuses);
        used.select(statuses, 0.01);
        used.trim(0);
        fresh.trim(0);
        const CoverBound::Validity validity = fresh.select(statuses, 0.01);
        CHECK(used.select(statuses, 0.01) == validity);
        if (validity == CoverBound::Validity::open) {
            CHECK_NEAR(used.solve(), fresh.solve(), 1e-9);
        }
    }
}

TEST(a_full_pool_learns_nothing) {
    Random random(8);
    const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
    const Samples samples = problem.samples();
    CoverBound full(samples);
    CoverBound other(samples);
    full.trim(0);
    const std::size_t before = full.memory();
    learn(samples, random, full, other);
    CHECK(full.memory() == before);
    CHECK(other.memory() > before);
}
