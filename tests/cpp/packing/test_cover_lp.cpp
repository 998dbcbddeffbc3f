#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "packing/cover_lp.h"

using namespace hardmargin;

namespace {

// Steps after which every inverse is recomputed.
constexpr std::size_t old_age = 1'000'000;

struct Cover {
    std::vector<double> costs;
    std::vector<std::vector<std::uint32_t>> sets;
    std::vector<bool> excluded;
};

Cover random_cover(Random& random, std::size_t items, std::size_t sets) {
    Cover cover;
    const bool weighted = random.below(2) == 0;
    for (std::size_t i = 0; i < items; ++i) {
        cover.costs.push_back(weighted ? 0.1 + random.uniform() : 3.0);
        cover.excluded.push_back(false);
    }
    for (std::size_t k = 0; k < sets; ++k) {
        std::vector<std::uint32_t> all(items);
        for (std::uint32_t i = 0; i < items; ++i) {
            all[i] = i;
        }
        random.shuffle(all);
        all.resize(1 + random.below(std::min<std::size_t>(items, 5)));
        std::sort(all.begin(), all.end());
        cover.sets.push_back(all);
    }
    return cover;
}

// The cheapest choice of whole items, by enumeration; infinity if there is none.
double cheapest_cover(const Cover& cover) {
    double best = std::numeric_limits<double>::infinity();
    for (std::uint32_t chosen = 0; chosen < 1u << cover.costs.size(); ++chosen) {
        double cost = 0;
        bool allowed = true;
        for (std::size_t i = 0; i < cover.costs.size(); ++i) {
            if (chosen >> i & 1) {
                cost += cover.costs[i];
                allowed = allowed && !cover.excluded[i];
            }
        }
        for (const auto& set : cover.sets) {
            allowed = allowed && std::any_of(set.begin(), set.end(), [&](auto item) { return chosen >> item & 1; });
        }
        best = allowed ? std::min(best, cost) : best;
    }
    return best;
}

// Optimal: the values cover every set, and cost no more than the packing is worth.
void check_solution(const CoverLp& program, const Cover& cover) {
    std::vector<double> reduced_costs;
    const double packed = program.packing_value(reduced_costs);
    double cost = 0;
    for (std::size_t i = 0; i < cover.costs.size(); ++i) {
        CHECK(program.values()[i] >= -1e-6);
        CHECK(!cover.excluded[i] || std::abs(program.values()[i]) < 1e-2);
        cost += cover.costs[i] * program.values()[i];
    }
    for (const auto& set : cover.sets) {
        double covered = 0;
        for (const std::uint32_t item : set) {
            covered += program.values()[item];
        }
        CHECK(covered >= 1 - 2e-3);
    }
    // The weights themselves are a packing of this value.
    std::vector<double> loads(cover.costs.size());
    double total = 0;
    for (const CoverLp::WeightedSet& set : program.packing()) {
        total += set.weight;
        for (const std::uint32_t item : program.items(set.set)) {
            loads[item] += set.weight;
        }
    }
    CHECK(total >= packed * (1 - 1e-9) && total <= packed * (1 + 1e-9));
    for (std::size_t i = 0; i < cover.costs.size(); ++i) {
        CHECK(cover.excluded[i] || loads[i] <= cover.costs[i]);
    }
    CHECK(packed <= cost * (1 + 1e-3) + 1e-9);
    CHECK(packed >= cost * (1 - 5e-3) - 1e-9);
}

void load(CoverLp& program, const Cover& cover) {
    for (std::size_t k = program.set_count() - cover.costs.size(); k < cover.sets.size(); ++k) {
        program.activate(program.add(cover.sets[k]));
    }
}

}  // namespace

TEST(the_packing_is_worth_what_the_cover_costs) {
    Random random(61);
    for (int trial = 0; trial < 300; ++trial) {
        const Cover cover = random_cover(random, 2 + random.below(60), 1 + random.below(150));
        CoverLp program(cover.costs);
        load(program, cover);
        CHECK(program.solve(10'000) == CoverLp::Status::optimal);
        check_solution(program, cover);
    }
}

TEST(the_inverse_grows_with_the_basis) {
    Random random(65);
    for (int trial = 0; trial < 20; ++trial) {
        const Cover cover = random_cover(random, 150 + random.below(60), 400);
        CoverLp program(cover.costs);
        load(program, cover);
        CHECK(program.solve(10'000) == CoverLp::Status::optimal);
        // Larger than the inverse is at first.
        CHECK(program.basis().sets.size() > 64);
        check_solution(program, cover);
    }
}

TEST(the_packing_never_exceeds_the_cheapest_whole_cover) {
    Random random(62);
    for (int trial = 0; trial < 300; ++trial) {
        Cover cover = random_cover(random, 2 + random.below(9), 1 + random.below(20));
        CoverLp program(cover.costs);
        load(program, cover);
        std::vector<double> reduced_costs;
        // At any step limit.
        for (int part = 0; part < 8; ++part) {
            std::size_t asked = 0;
            const std::size_t moment = random.below(6);
            program.set_stop([&] { return part % 2 == 1 && asked++ >= moment; });
            program.solve(part % 2 == 1 ? 100 : random.below(4));
            CHECK(program.packing_value(reduced_costs) <= cheapest_cover(cover) * (1 + 1e-12));
            // Stopped during an inversion.
            CoverLp::BasisSnapshot snapshot = program.snapshot();
            snapshot.age = old_age;
            program.load(snapshot);
            CHECK(program.packing_value(reduced_costs) <= cheapest_cover(cover) * (1 + 1e-12));
            program.solve(0);
            CHECK(program.packing_value(reduced_costs) <= cheapest_cover(cover) * (1 + 1e-12));
        }
        // A cover that must contain an item costs at least its reduced cost more.
        const double packed = program.packing_value(reduced_costs);
        const std::uint32_t item = static_cast<std::uint32_t>(random.below(cover.costs.size()));
        cover.sets.push_back({item});
        CHECK(packed + reduced_costs[item] <= cheapest_cover(cover) * (1 + 1e-12));
    }
}

TEST(it_ends_as_soon_as_the_packing_is_worth_enough) {
    Random random(66);
    int early = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const Cover cover = random_cover(random, 2 + random.below(60), 1 + random.below(150));
        std::vector<double> reduced_costs;
        CoverLp complete(cover.costs);
        load(complete, cover);
        CHECK(complete.solve(10'000) == CoverLp::Status::optimal);
        const double best = complete.packing_value(reduced_costs);
        CoverLp program(cover.costs);
        load(program, cover);
        const double enough = best * 2 * random.uniform();
        const CoverLp::Status status = program.solve(10'000, enough);
        const double packed = program.packing_value(reduced_costs);
        CHECK(packed <= best * (1 + 5e-3) + 1e-9);
        // Either it is worth enough, or nothing better was left to do.
        const bool ended_early = status == CoverLp::Status::enough;
        CHECK(ended_early || status == CoverLp::Status::optimal);
        CHECK(packed >= (ended_early ? enough : best * (1 - 5e-3)) * (1 - 1e-9));
        early += ended_early;
        // It continues from there.
        CHECK(program.solve(10'000) == CoverLp::Status::optimal);
        check_solution(program, cover);
    }
    CHECK(early > 50);
}

TEST(an_inverse_computed_afresh_is_the_one_that_the_steps_led_to) {
    Random random(64);
    for (int trial = 0; trial < 300; ++trial) {
        Cover cover = random_cover(random, 2 + random.below(60), 1 + random.below(150));
        for (std::uint32_t item = 0; item < cover.costs.size(); ++item) {
            if (random.below(3) == 0) {
                cover.sets.push_back({item});
            }
        }
        CoverLp program(cover.costs);
        load(program, cover);
        program.solve(random.below(90));
        const CoverLp::BasisSnapshot updated = program.snapshot();
        CoverLp::BasisSnapshot old = updated;
        old.age = old_age;
        program.load(old);
        program.solve(0);
        const CoverLp::BasisSnapshot afresh = program.snapshot();
        CHECK(afresh.age == 0);
        CHECK(afresh.basis.sets == updated.basis.sets);
        CHECK(afresh.basis.items == updated.basis.items);
        CHECK(afresh.inverse.size() == updated.inverse.size());
        for (std::size_t k = 0; k < updated.inverse.size(); ++k) {
            CHECK(std::fabs(afresh.inverse[k] - updated.inverse[k]) <= 1e-6);
        }
    }
}

TEST(a_program_changes_as_sets_come_and_items_go) {
    Random random(63);
    for (int trial = 0; trial < 200; ++trial) {
        const std::size_t items = 10 + random.below(40);
        Cover cover = random_cover(random, items, 20);
        CoverLp program(cover.costs);
        load(program, cover);
        program.solve(10'000);
        const CoverLp::BasisSnapshot first = program.snapshot();
        const Cover at_first = cover;
        for (int change = 0; change < 10; ++change) {
            const std::uint32_t item = static_cast<std::uint32_t>(random.below(items));
            if (random.below(2) == 0) {
                cover.sets.push_back(random_cover(random, items, 1).sets[0]);
                load(program, cover);
            } else {
                cover.excluded[item] = true;
                program.exclude(item, true);
            }
            const bool no_cover = std::any_of(cover.sets.begin(), cover.sets.end(), [&](const auto& set) {
                return std::all_of(set.begin(), set.end(), [&](auto member) { return cover.excluded[member]; });
            });
            const CoverLp::Status status = program.solve(10'000);
            CHECK(status == (no_cover ? CoverLp::Status::no_cover : CoverLp::Status::optimal));
            if (no_cover) {
                break;
            }
            check_solution(program, cover);
        }
        // Back to the first basis.
        std::vector<std::uint32_t> active;
        for (std::uint32_t item = 0; item < items; ++item) {
            program.exclude(item, false);
        }
        for (std::size_t k = 0; k < at_first.sets.size(); ++k) {
            active.push_back(static_cast<std::uint32_t>(items + k));
        }
        program.set_active(active);
        // With the inverse, and without.
        for (const CoverLp::BasisSnapshot& snapshot : {first, CoverLp::BasisSnapshot{first.basis, {}, 0}}) {
            program.load(snapshot);
            CHECK(program.solve(10'000) == CoverLp::Status::optimal);
            check_solution(program, at_first);
        }
    }
}
