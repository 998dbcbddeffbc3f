#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/kernels.h"
#include "base/random.h"
#include "check.h"
#include "qp/max_margin.h"
#include "random_problems.h"

using namespace hardmargin;

namespace {

void enable_all(MaxMargin& solver) {
    for (std::size_t i = 0; i < solver.samples().count(); ++i) {
        solver.enable(i);
    }
}

// Larger values mean that the problem is infeasible up to rounding.
constexpr double practically_infeasible = 1e10;

bool agrees(MaxMarginStatus status, double value, double expected) {
    if (status == MaxMarginStatus::infeasible || value > practically_infeasible) {
        return expected > practically_infeasible;
    }
    return status == MaxMarginStatus::optimal && std::abs(value - expected) <= 1e-7 * std::max(1.0, expected);
}

}  // namespace

TEST(the_value_is_that_of_an_exhaustive_search) {
    Random random(11);
    for (int trial = 0; trial < 2000; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 9, 4);
        const Samples samples = problem.samples();
        MaxMargin solver(samples);
        enable_all(solver);
        const MaxMarginStatus status = solver.solve();
        const double expected = testing::exhaustive_margin_value(problem, std::vector<bool>(problem.count, true));
        CHECK(agrees(status, solver.value(), expected));
    }
}

TEST(warm_starts_end_where_cold_starts_do) {
    Random random(12);
    for (int trial = 0; trial < 500; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 10, 4);
        const Samples samples = problem.samples();
        MaxMargin warm(samples);
        std::vector<bool> kept(problem.count, false);
        for (int change = 0; change < 12; ++change) {
            const std::size_t i = random.below(problem.count);
            kept[i] = !kept[i];
            if (kept[i]) {
                warm.enable(i);
            } else {
                warm.disable(i);
            }
            const MaxMarginStatus status = warm.solve();
            CHECK(agrees(status, warm.value(), testing::exhaustive_margin_value(problem, kept)));
        }
    }
}

TEST(an_optimum_satisfies_its_rows) {
    Random random(13);
    for (int trial = 0; trial < 500; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 12, 5);
        const Samples samples = problem.samples();
        MaxMargin solver(samples);
        enable_all(solver);
        if (solver.solve() != MaxMarginStatus::optimal || solver.value() > 1e6) {
            continue;
        }
        double balance = 0;
        for (std::size_t k = 0; k < solver.active_rows().size(); ++k) {
            CHECK(solver.multipliers()[k] >= 0);
            balance += solver.multipliers()[k] * samples.label(solver.active_rows()[k]);
            CHECK_NEAR(solver.margins()[solver.active_rows()[k]], 1.0, 1e-6);
        }
        CHECK_NEAR(balance, 0.0, 1e-6 * (1 + solver.value()));
        for (const double margin : solver.margins()) {
            CHECK(margin >= 1 - 1e-8);
        }
    }
}

// With few rows only these are priced, but margins() covers all samples.
TEST(few_rows_give_the_same_solution_and_all_margins) {
    Random random(18);
    for (int trial = 0; trial < 500; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 9, 4);
        // The same samples among many that stay disabled.
        std::vector<double> features = problem.features;
        std::vector<double> labels = problem.labels;
        std::vector<double> costs = problem.costs;
        for (std::size_t k = 0; k < 5 * problem.count; ++k) {
            for (std::size_t j = 0; j < problem.dimension; ++j) {
                features.push_back(random.normal());
            }
            labels.push_back(k % 2 == 0 ? 1.0 : -1.0);
            costs.push_back(1.0);
        }
        const Samples many(features, labels, costs);
        MaxMargin solver(many);
        for (std::size_t i = 0; i < problem.count; ++i) {
            solver.enable(i);
        }
        const double expected = testing::exhaustive_margin_value(problem, std::vector<bool>(problem.count, true));
        const MaxMarginStatus status = solver.solve();
        CHECK(agrees(status, solver.value(), expected));
        if (status != MaxMarginStatus::optimal) {
            continue;
        }
        std::vector<double> margins(many.padded_count());
        many.margins(solver.weights().data(), solver.bias(), margins.data());
        for (std::size_t i = 0; i < many.count(); ++i) {
            CHECK_NEAR(solver.margins()[i], margins[i], 1e-9 * (1 + std::abs(margins[i])));
        }
    }
}

TEST(a_threshold_stops_with_a_certificate) {
    Random random(14);
    int stopped = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 9, 3);
        const Samples samples = problem.samples();
        const double value = testing::exhaustive_margin_value(problem, std::vector<bool>(problem.count, true));
        MaxMargin solver(samples);
        enable_all(solver);
        const double threshold = random.uniform() * std::min(value, 100.0);
        const MaxMarginStatus status = solver.solve(threshold);
        if (value == 0 || threshold == 0) {
            continue;
        }
        CHECK(status == MaxMarginStatus::threshold || status == MaxMarginStatus::infeasible);
        CHECK(solver.certificate_value() >= threshold);
        // The certificate is about its rows only.
        std::vector<bool> kept(problem.count, false);
        for (const Multiplier& multiplier : solver.certificate()) {
            kept[multiplier.row] = true;
        }
        CHECK(solver.certificate_value() <= testing::exhaustive_margin_value(problem, kept) * (1 + 1e-7));
        ++stopped;
        // The solution is still a valid warm start.
        const MaxMarginStatus continued = solver.solve();
        CHECK(agrees(continued, solver.value(), value));
    }
    CHECK(stopped > 500);
}

TEST(a_flip_holds_a_sample_back) {
    // Positive at 4, negative at 0; the flip of a positive at 3 requires a margin of at most 1 there.
    const std::vector<double> features = {0.0, 4.0, 3.0};
    const std::vector<double> labels = {-1.0, 1.0, 1.0};
    const std::vector<double> costs = {1.0, 1.0, 1.0};
    const Samples samples(features, labels, costs);
    MaxMargin solver(samples);
    solver.enable(0);
    solver.enable(1);
    solver.enable(solver.flip_row(2));
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 0.125, 1e-9);
    solver.enable(2);
    // Kept and flipped: its margin is exactly 1, and the positive at 4 has room to spare.
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.margins()[2], 1.0, 1e-9);
    CHECK_NEAR(solver.value(), 0.5 * 4.0 / 9.0, 1e-9);
}

TEST(extra_rows_restrict_the_weights) {
    const std::vector<double> features = {0.0, 0.0, 4.0, 0.0};
    const std::vector<double> labels = {-1.0, 1.0};
    const std::vector<double> costs = {1.0, 1.0};
    const Samples samples(features, labels, costs);
    MaxMargin solver(samples);
    // w_1 >= 1 and -w_0 >= -0.25: the samples need w_0 >= 0.5, so the second one is not to be met.
    solver.set_extra_rows({{{0.0, 1.0, 0.0, 0.0}, 1.0}, {{-1.0, 0.0, 0.0, 0.0}, -0.25}});
    solver.enable(0);
    solver.enable(1);
    solver.enable(solver.extra_row(0));
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 0.5 * (0.25 + 1.0), 1e-9);
    solver.enable(solver.extra_row(1));
    CHECK(solver.solve() == MaxMarginStatus::infeasible);
    solver.disable(solver.extra_row(0));
    solver.disable(solver.extra_row(1));
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 0.125, 1e-9);
}

TEST(extra_rows_alone_need_no_sample) {
    const std::vector<double> features = {1.0, 1.0};
    const std::vector<double> labels = {-1.0};
    const std::vector<double> costs = {1.0};
    const Samples samples(features, labels, costs);
    MaxMargin solver(samples);
    solver.set_extra_rows({{{1.0, 0.0, 0.0, 0.0}, 2.0}, {{0.0, 1.0, 0.0, 0.0}, 1.0}});
    solver.enable(solver.extra_row(0));
    solver.enable(solver.extra_row(1));
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 2.5, 1e-9);
    solver.enable(0);
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 2.5, 1e-9);
    CHECK(solver.margins()[0] >= 1 - 1e-9);
}

TEST(bounds_on_weights_always_hold) {
    const std::vector<double> features = {0.0, 0.0, 4.0, 0.0};
    const std::vector<double> labels = {-1.0, 1.0};
    const std::vector<double> costs = {1.0, 1.0};
    constexpr double open = std::numeric_limits<double>::infinity();
    const Samples samples(features, labels, costs, open, {{-open, 1.0}, {0.75, open}});
    MaxMargin solver(samples);
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 0.5, 1e-12);
    enable_all(solver);
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 0.5 * (0.25 + 1.0), 1e-9);
    CHECK(solver.certify_solution() <= 0.5 * (0.25 + 1.0));
    CHECK_NEAR(solver.certificate_value(), 0.5 * (0.25 + 1.0), 1e-9);
    // Rows of a region come in addition, and leave the bounds where they are.
    solver.set_extra_rows({{{1.0, 0.0, 0.0, 0.0}, 0.7}});
    solver.enable(solver.extra_row(0));
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 0.5 * (0.49 + 1.0), 1e-9);
    solver.set_extra_rows({{{1.0, 0.0, 0.0, 0.0}, 0.8}});
    solver.enable(solver.extra_row(0));
    CHECK(solver.solve() == MaxMarginStatus::infeasible);
    solver.clear();
    CHECK(solver.solve() == MaxMarginStatus::optimal);
    CHECK_NEAR(solver.value(), 0.5, 1e-12);
}

TEST(releasing_a_row_keeps_the_others_tight) {
    Random random(15);
    for (int trial = 0; trial < 300; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 12, 4);
        const Samples samples = problem.samples();
        MaxMargin solver(samples);
        enable_all(solver);
        if (solver.solve() != MaxMarginStatus::optimal || solver.value() > 1e4 || solver.active_rows().size() < 2) {
            continue;
        }
        std::vector<double> direction(samples.stride());
        double bias_direction = 0;
        const std::size_t released = random.below(solver.active_rows().size());
        solver.release_direction(released, direction.data(), bias_direction);
        for (std::size_t k = 0; k < solver.active_rows().size(); ++k) {
            const std::size_t i = solver.active_rows()[k];
            const double slope =
                dot(samples.row(i), direction.data(), samples.stride()) + samples.label(i) * bias_direction;
            CHECK_NEAR(slope, k == released ? -1.0 : 0.0, 1e-6);
        }
    }
}

TEST(huge_and_tiny_scales_are_certified) {
    Random random(16);
    int certified = 0;
    for (const double scale : {1e-12, 1e-6, 1e6, 1e12}) {
        for (int trial = 0; trial < 100; ++trial) {
            testing::RandomProblem problem = testing::random_problem(random, 7, 3);
            const double unscaled =
                testing::exhaustive_margin_value(problem, std::vector<bool>(problem.count, true));
            for (double& value : problem.features) {
                value *= scale;
            }
            const Samples samples = problem.samples();
            MaxMargin solver(samples);
            enable_all(solver);
            const double value = unscaled / scale / scale;
            const MaxMarginStatus status = solver.solve(0.5 * std::min(value, 1e6 / scale / scale));
            if (status == MaxMarginStatus::threshold || status == MaxMarginStatus::infeasible) {
                CHECK(solver.certificate_value() <= value * (1 + 1e-6));
                ++certified;
            }
        }
    }
    CHECK(certified > 250);
}

// Nearly equal samples cause huge intermediate multipliers, but what is called optimal must be optimal.
TEST(after_any_changes_an_optimum_is_one) {
    Random random(17);
    int optima = 0;
    for (int trial = 0; trial < 200; ++trial) {
        testing::RandomProblem problem = testing::random_problem(random, 12, 3);
        const double noise = std::pow(10.0, -6 - 7 * random.uniform());
        for (std::size_t i = 1; i < problem.count; i += 2) {
            for (std::size_t k = 0; k < problem.dimension; ++k) {
                problem.features[i * problem.dimension + k] =
                    problem.features[(i - 1) * problem.dimension + k] + noise * random.normal();
            }
        }
        const Samples samples = problem.samples();
        MaxMargin warm(samples);
        for (int change = 0; change < 20; ++change) {
            const std::size_t row = random.below(samples.count());
            if (warm.enabled(row)) {
                warm.disable(row);
            } else {
                warm.enable(row);
            }
            const double threshold = random.uniform() < 0.5 ? MaxMargin::no_threshold : 10 * random.uniform();
            if (warm.solve(threshold) != MaxMarginStatus::optimal) {
                continue;
            }
            ++optima;
            const std::span<const double> weights = warm.weights();
            const double value = 0.5 * dot(weights.data(), weights.data(), samples.stride());
            CHECK_NEAR(warm.value(), value, 1e-9 * (1 + value));
            MaxMargin cold(samples);
            for (std::size_t i = 0; i < samples.count(); ++i) {
                if (warm.enabled(i)) {
                    cold.enable(i);
                }
            }
            if (cold.solve() == MaxMarginStatus::optimal) {
                CHECK_NEAR(warm.value(), cold.value(), 1e-5 * (1 + cold.value()));
            }
        }
    }
    CHECK(optima > 1000);
}

TEST(samples_on_one_point_cannot_be_told_apart) {
    for (const std::size_t dimension : {0u, 2u}) {
        const std::vector<double> features(3 * dimension);
        const std::vector<double> labels = {-1.0, 1.0, 1.0};
        const std::vector<double> costs(3, 1.0);
        const Samples samples(features, labels, costs);
        MaxMargin solver(samples);
        solver.enable(1);
        solver.enable(2);
        CHECK(solver.solve() == MaxMarginStatus::optimal);
        CHECK(solver.value() == 0);
        solver.enable(0);
        CHECK(solver.solve(1e6) == MaxMarginStatus::infeasible);
        CHECK(solver.certificate().size() == 2);
    }
}

// With an origin and a pool: finds the nearest point that satisfies all rows, if there is one, and agrees with a
// solver without them about feasibility.
TEST(an_origin_and_a_pool_change_where_the_solution_is_but_not_whether_there_is_one) {
    Random random(31);
    int counts[2] = {0, 0};
    for (int trial = 0; trial < 400; ++trial) {
        const testing::RandomProblem problem = testing::random_problem(random, 20, 4);
        const Samples samples = problem.samples();
        const std::size_t m = samples.dimension();
        std::vector<ExtraRow> rows;
        for (std::size_t k = 0; k < m; ++k) {
            for (const double sign : {1.0, -1.0}) {
                ExtraRow& row = rows.emplace_back(ExtraRow{std::vector<double>(samples.stride()), 0.0});
                row.normal[k] = sign;
                row.bound = -std::pow(10.0, 4 * random.uniform() - 2);
            }
        }
        std::vector<std::uint32_t> pool;
        for (std::uint32_t i = 0; i < samples.count(); ++i) {
            if (random.below(3) == 0) {
                pool.push_back(i);
            }
        }
        MaxMargin plain(samples);
        MaxMargin moved(samples);
        for (MaxMargin* solver : {&plain, &moved}) {
            solver->set_extra_rows(rows);
            for (std::size_t j = 0; j < rows.size(); ++j) {
                solver->enable(solver->extra_row(j));
            }
            for (const std::uint32_t i : pool) {
                solver->enable(i);
            }
        }
        std::vector<double> origin(samples.stride());
        for (std::size_t k = 0; k < m; ++k) {
            origin[k] = random.normal();
        }
        moved.set_pool(pool);
        moved.set_origin(origin);
        // With one sample less each time.
        for (;;) {
            const MaxMarginStatus expected = plain.solve();
            const MaxMarginStatus status = moved.solve();
            if (expected == MaxMarginStatus::failed || status == MaxMarginStatus::failed) {
                break;
            }
            CHECK(status == expected);
            ++counts[status == MaxMarginStatus::optimal];
            if (status == MaxMarginStatus::optimal) {
                std::vector<double> rest(samples.stride());
                for (std::size_t k = 0; k < m; ++k) {
                    rest[k] = moved.weights()[k] - origin[k];
                }
                double squared = 0;
                for (const double entry : rest) {
                    squared += entry * entry;
                }
                CHECK_NEAR(moved.value(), 0.5 * squared, 1e-8 * (squared + 1));
                // w - origin is a combination of the active rows' normals, with multipliers >= 0.
                for (std::size_t index = 0; index < moved.active_rows().size(); ++index) {
                    const std::size_t row = moved.active_rows()[index];
                    const double multiplier = moved.multipliers()[index];
                    CHECK(multiplier >= 0);
                    const double* normal = moved.rows().keeps(row)
                                               ? samples.row(row)
                                               : rows[moved.rows().extra_index(row)].normal.data();
                    for (std::size_t k = 0; k < m; ++k) {
                        rest[k] -= multiplier * normal[k];
                    }
                }
                for (const double entry : rest) {
                    CHECK_NEAR(entry, 0.0, 1e-6 * (std::sqrt(squared) + 1));
                }
                for (const std::uint32_t i : pool) {
                    CHECK(!moved.enabled(i) || moved.margins()[i] >= 1 - 2e-6);
                }
                for (const ExtraRow& row : rows) {
                    double value = 0;
                    for (std::size_t k = 0; k < m; ++k) {
                        value += row.normal[k] * moved.weights()[k];
                    }
                    CHECK(value >= row.bound - 2e-6);
                }
                break;
            }
            CHECK(moved.certificate_value() > 0);
            std::vector<std::size_t> members;
            for (const Multiplier& multiplier : moved.certificate()) {
                CHECK(moved.enabled(multiplier.row));
                if (multiplier.row < samples.count()) {
                    members.push_back(multiplier.row);
                }
            }
            CHECK(!members.empty());
            if (members.empty()) {
                break;
            }
            for (const std::size_t member : members) {
                moved.disable(member);
                plain.disable(member);
            }
        }
        // clear() resets both.
        plain.clear();
        moved.clear();
        for (const std::uint32_t i : pool) {
            plain.enable(i);
            moved.enable(i);
        }
        CHECK(plain.solve() == moved.solve());
        CHECK(plain.value() == moved.value());
    }
    CHECK(counts[0] > 50);
    CHECK(counts[1] > 50);
}

TEST(a_solve_with_many_features_can_be_stopped_anywhere_and_repeated) {
    constexpr std::size_t dimension = 320;
    constexpr std::size_t count = 420;
    Random random(29);
    std::vector<double> features(count * dimension);
    std::vector<double> labels(count);
    for (std::size_t i = 0; i < count; ++i) {
        labels[i] = i % 2 == 0 ? 1.0 : -1.0;
        for (std::size_t k = 0; k < dimension; ++k) {
            features[i * dimension + k] = random.normal() + (k == 0 ? 4 * labels[i] : 0.0);
        }
    }
    const Samples samples(features, labels, std::vector<double>(count, 1.0));
    MaxMargin reference(samples);
    enable_all(reference);
    std::size_t calls = 0;
    reference.set_stop([&calls] {
        ++calls;
        return false;
    });
    CHECK(reference.solve() == MaxMarginStatus::optimal);
    for (std::size_t last = 1; last <= calls; last += 1 + calls / 25) {
        MaxMargin solver(samples);
        enable_all(solver);
        std::size_t seen = 0;
        solver.set_stop([&seen, last] { return ++seen >= last; });
        CHECK(solver.solve() == MaxMarginStatus::failed);
        solver.set_stop({});
        CHECK(solver.solve() == MaxMarginStatus::optimal);
        CHECK_NEAR(solver.value(), reference.value(), 1e-9 * reference.value());
    }
}
