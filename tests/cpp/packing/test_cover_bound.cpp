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

TEST(the_same_decisions_are_looked_at_once) {
    Random random(7);
    int selections = 0;
    for (int trial = 0; trial < 100; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 14, 3);
        const Samples samples = problem.samples();
        CoverBound used(samples);
        CoverBound fresh(samples);
        learn(samples, random, used, fresh);
        const std::vector<SampleStatus> root(samples.count(), SampleStatus::free);
        used.begin(root);
        for (int part = 0; part < 4; ++part) {
            std::vector<SampleStatus> statuses = root;
            decide(statuses, random, 0.3);
            for (int round = 0; round < 4; ++round) {
                if (random.uniform() < 0.5) {
                    learn(samples, random, used, fresh);
                }
                // The room may rise and fall.
                const double room = 0.5 * random.uniform();
                fresh.begin(root);
                const CoverBound::Validity validity = fresh.select(statuses, room);
                CHECK(used.select(statuses, room) == validity);
                if (validity == CoverBound::Validity::open) {
                    CHECK_NEAR(used.solve(), fresh.solve(), 1e-9);
                    ++selections;
                } else {
                    CHECK(used.decisive_set() == fresh.decisive_set());
                }
            }
        }
        const std::uint64_t before = used.work();
        std::vector<SampleStatus> statuses = root;
        used.select(statuses, 0.1);
        const std::uint64_t first = used.work() - before;
        used.select(statuses, 0.2);
        CHECK(used.work() - before == first);
    }
    CHECK(selections > 100);
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
