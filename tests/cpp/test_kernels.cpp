#include <limits>
#include <vector>

#include "check.h"
#include "kernels.h"
#include "random.h"

using namespace hardmargin;

namespace {

std::vector<double> random_vector(Random& random, std::size_t size) {
    std::vector<double> values(size);
    for (double& value : values) {
        value = random.normal();
    }
    return values;
}

// Both tables must do the same, whichever one this CPU uses. Where AVX2 is missing its table cannot be
// called.
std::vector<const Kernels*> usable_tables() {
    std::vector<const Kernels*> tables = {&baseline_kernels};
    if (&kernels == &avx2_kernels) {
        tables.push_back(&avx2_kernels);
    }
    return tables;
}

}  // namespace

TEST(dot_products_and_row_products_agree_with_plain_loops) {
    Random random(1);
    for (const Kernels* table : usable_tables()) {
        for (const std::size_t size : {4u, 8u, 12u, 80u}) {
            const std::vector<double> left = random_vector(random, size);
            const std::vector<double> rows = random_vector(random, 3 * size);
            std::vector<double> products(3);
            table->multiply_rows(rows.data(), 3, size, left.data(), products.data());
            for (std::size_t row = 0; row < 3; ++row) {
                double expected = 0;
                for (std::size_t k = 0; k < size; ++k) {
                    expected += left[k] * rows[row * size + k];
                }
                CHECK_NEAR(products[row], expected, 1e-12);
                CHECK_NEAR(table->dot(left.data(), rows.data() + row * size, size), expected, 1e-12);
            }
        }
    }
}

TEST(rows_and_columns_are_combined) {
    Random random(2);
    constexpr std::size_t features = 3;
    for (const Kernels* table : usable_tables()) {
        for (const std::size_t tiles : {1u, 2u, 5u}) {
            const std::size_t padded = tiles * tile;
            const std::vector<double> values = random_vector(random, features * padded);
            const std::vector<double> bias_column = random_vector(random, padded);
            const std::vector<double> weights = random_vector(random, features);
            const Columns columns{values.data(), features, padded, bias_column.data()};
            std::vector<double> combined(padded);
            table->combine_columns(columns, weights.data(), 0.5, combined.data());
            for (std::size_t i = 0; i < padded; ++i) {
                double expected = 0.5 * bias_column[i];
                for (std::size_t k = 0; k < features; ++k) {
                    expected += weights[k] * values[i / tile * tile * features + k * tile + i % tile];
                }
                CHECK_NEAR(combined[i], expected, 1e-12);
            }
        }
        const std::vector<double> rows = random_vector(random, 3 * 8);
        const std::vector<double> factors = random_vector(random, 3);
        std::vector<double> summed(8);
        std::vector<double> one_by_one(8);
        table->add_rows(rows.data(), 3, 8, factors.data(), summed.data());
        for (std::size_t row = 0; row < 3; ++row) {
            table->add_scaled(one_by_one.data(), factors[row], rows.data() + row * 8, 8);
        }
        for (std::size_t k = 0; k < 8; ++k) {
            CHECK_NEAR(summed[k], one_by_one[k], 1e-12);
        }
    }
}

TEST(rotations_keep_lengths) {
    Random random(3);
    for (const Kernels* table : usable_tables()) {
        std::vector<double> upper = random_vector(random, 8);
        std::vector<double> lower = random_vector(random, 8);
        const double before = upper[3] * upper[3] + lower[3] * lower[3];
        table->rotate(upper.data(), lower.data(), 0.6, 0.8, 8);
        CHECK_NEAR(upper[3] * upper[3] + lower[3] * lower[3], before, 1e-12);
    }
}

TEST(pricing_finds_the_first_of_the_farthest_samples) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Random random(4);
    const double weight = 1;
    for (const Kernels* table : usable_tables()) {
        for (const std::size_t tiles : {1u, 2u, 3u}) {
            const std::size_t padded = tiles * tile;
            const std::vector<double> bias_column(padded);
            const std::vector<double> scales(padded, 0.5);
            std::vector<double> values = random_vector(random, padded);
            std::vector<double> offsets(padded);
            for (double& offset : offsets) {
                offset = random.uniform() < 0.3 ? infinity : 0.0;
            }
            const std::size_t wanted = random.below(padded);
            values[wanted] = values[padded - 1] = -10;
            offsets[wanted] = offsets[padded - 1] = 0;
            const Columns columns{values.data(), 1, padded, bias_column.data()};
            std::vector<double> out(padded);
            CHECK(table->price(columns, &weight, 0.0, scales.data(), offsets.data(), out.data()) == wanted);
            CHECK(out == values);
        }
    }
}

TEST(coarse_pricing_finds_a_sample_that_is_about_the_farthest) {
    Random random(8);
    constexpr std::size_t features = 5;
    for (const Kernels* table : usable_tables()) {
        for (const std::size_t tiles : {1u, 3u}) {
            const std::size_t padded = tiles * tile;
            const std::vector<double> exact = random_vector(random, (features + 1) * padded);
            const std::vector<double> weights = random_vector(random, features);
            const std::vector<float> values(exact.begin(), exact.end());
            const std::vector<float> bias_column(exact.end() - static_cast<std::ptrdiff_t>(padded), exact.end());
            const std::vector<float> coarse_weights(weights.begin(), weights.end());
            const std::vector<float> scales(padded, 1.0f);
            std::vector<float> offsets(padded);
            offsets[0] = std::numeric_limits<float>::infinity();
            std::vector<float> scores(padded);
            const CoarseColumns columns{values.data(), features, padded, bias_column.data(), scales.data()};
            const std::size_t found =
                table->coarse_price(columns, coarse_weights.data(), 0.5f, offsets.data(), scores.data());
            const auto score = [&](std::size_t i) {
                double sum = 0.5 * bias_column[i] - 1;
                for (std::size_t k = 0; k < features; ++k) {
                    sum += weights[k] * exact[i / tile * tile * features + k * tile + i % tile];
                }
                return sum;
            };
            CHECK(found != 0);
            for (std::size_t i = 1; i < padded; ++i) {
                CHECK(score(found) <= score(i) + 1e-4);
            }
        }
    }
}
