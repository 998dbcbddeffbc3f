#include <cstdint>
#include <thread>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "packing/cover_choice.h"

using namespace hardmargin;

namespace {

using Way = CoverChoice::Way;

// Subtrees whose work grows by a factor per sample of distance, one with the cover bound and one without.
struct Costs {
    double with_cover;
    double growth_with_cover;
    double without_cover;
    double growth_without_cover;

    double of(Way way, std::size_t distance) const {
        const double first = way == Way::with_cover ? with_cover : without_cover;
        const double growth = way == Way::with_cover ? growth_with_cover : growth_without_cover;
        double work = first;
        for (std::size_t k = 0; k < distance; ++k) {
            work *= growth;
        }
        return work;
    }
};

// The threshold after this many subtrees at distances below 20.
std::size_t learnt(CoverChoice& choice, const Costs& costs, int subtrees, std::uint64_t seed) {
    Random random(seed);
    for (int k = 0; k < subtrees; ++k) {
        const double distance = 20 * random.uniform();
        const CoverChoice::Decision decision = choice.decide(distance);
        CHECK(decision.distance == static_cast<std::size_t>(distance));
        const double luck = 0.3 + 1.4 * random.uniform();
        const auto work = static_cast<std::uint64_t>(luck * costs.of(decision.way, decision.distance));
        const bool closed = work <= decision.most_work;
        choice.note(decision, closed ? work : decision.most_work, closed);
    }
    return choice.threshold();
}

}  // namespace

TEST(the_cover_bound_is_used_everywhere_where_it_always_pays) {
    CoverChoice choice;
    CHECK(learnt(choice, {1e6, 2, 1e7, 4}, 5000, 1) == 0);
}

TEST(the_threshold_is_found_where_both_ways_are_equal) {
    // 1e6 x 2^d against 1e4 x 4^d: equal at a distance of log2(100) = 6.6.
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CoverChoice choice;
        const std::size_t threshold = learnt(choice, {1e6, 2, 1e4, 4}, 5000, seed);
        CHECK(threshold >= 5);
        CHECK(threshold <= 8);
    }
}

TEST(the_threshold_follows_when_things_change) {
    CoverChoice choice;
    CHECK(learnt(choice, {1e6, 2, 1e4, 4}, 5000, 3) >= 5);
    CHECK(learnt(choice, {1e5, 2, 1e5, 4}, 20000, 4) <= 1);
}

TEST(the_fewer_subtrees_show_that_the_cover_bound_does_not_pay_the_clearer_they_must_show_it) {
    const auto threshold_after = [](int subtrees, std::uint64_t work_without) {
        CoverChoice choice;
        for (int k = 0; k < subtrees; ++k) {
            choice.note({.way = Way::with_cover, .distance = 0}, 1'000'000, true);
            choice.note({.way = Way::without_cover, .distance = 0}, work_without, true);
        }
        return choice.threshold();
    };
    CHECK(threshold_after(4, 700'000) == 0);
    CHECK(threshold_after(60, 700'000) == 1);
    CHECK(threshold_after(4, 500'000) == 1);
    CHECK(threshold_after(60, 900'000) == 0);
    CHECK(threshold_after(3, 1) == 0);
}

TEST(the_cover_bound_is_used_again_where_it_takes_no_more_work) {
    CoverChoice choice;
    for (int k = 0; k < 8; ++k) {
        choice.note({.way = Way::with_cover, .distance = 0}, 1'000'000, true);
        choice.note({.way = Way::without_cover, .distance = 0}, 100'000, true);
    }
    CHECK(choice.threshold() == 1);
    for (int k = 0; k < 60; ++k) {
        choice.note({.way = Way::with_cover, .distance = 0}, 50'000, true);
        choice.note({.way = Way::without_cover, .distance = 0}, 200'000, true);
    }
    CHECK(choice.threshold() == 0);
}

// The unfavoured way gets only a small share of the work, however bad it is.
TEST(trials_are_cheap) {
    CoverChoice choice;
    Random random(5);
    double favoured = 0;
    double tried = 0;
    for (int k = 0; k < 5000; ++k) {
        const CoverChoice::Decision decision = choice.decide(0.5);
        if (decision.way == Way::with_cover) {
            favoured += 1e6;
            choice.note(decision, 1'000'000, true);
        } else {
            // Never ends by itself.
            CHECK(decision.most_work < CoverChoice::unlimited);
            tried += static_cast<double>(decision.most_work);
            choice.note(decision, decision.most_work, false);
        }
    }
    CHECK(choice.threshold() == 0);
    CHECK(tried > 0);
    CHECK(tried < 0.2 * favoured);
}

TEST(the_same_questions_get_the_same_answers) {
    std::vector<std::size_t> thresholds;
    for (int run = 0; run < 2; ++run) {
        CoverChoice choice;
        for (int subtrees = 50; subtrees < 500; subtrees += 50) {
            thresholds.push_back(learnt(choice, {1e6, 2, 1e4, 4}, subtrees, 7));
        }
    }
    const std::size_t half = thresholds.size() / 2;
    for (std::size_t k = 0; k < half; ++k) {
        CHECK(thresholds[k] == thresholds[k + half]);
    }
}

TEST(several_threads_may_share_a_choice) {
    CoverChoice choice;
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&choice, seed] { learnt(choice, {1e6, 2, 1e7, 4}, 2000, seed); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(choice.threshold() == 0);
}
