#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/kernels_choice.h"
#include "base/random.h"
#include "check.h"

using namespace hardmargin;

namespace {

std::vector<double> random_vector(Random& random, std::size_t size) {
    std::vector<double> values(size);
    for (double& value : values) {
        value = random.normal();
    }
    return values;
}

// All tables that this CPU can run must give the same results.
std::vector<const Kernels*> usable_tables() {
    std::vector<const Kernels*> tables;
    for (const NamedKernels& table : all_kernels()) {
        if (table.usable) {
            tables.push_back(table.table);
        }
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

TEST(multiples_of_a_vector_are_added_to_rows) {
    Random random(7);
    constexpr std::size_t stride = 16;
    for (const Kernels* table : usable_tables()) {
        for (const std::size_t width : {0u, 4u, 12u, 16u}) {
            const std::vector<double> vector = random_vector(random, width);
            const std::vector<double> before = random_vector(random, 3 * stride);
            std::vector<double> rows = before;
            const std::vector<double> factors = {0.5, 0.0, -2.0};
            table->update_rows(rows.data(), 3, stride, factors.data(), vector.data(), width);
            for (std::size_t k = 0; k < rows.size(); ++k) {
                const std::size_t column = k % stride;
                const double change = column < width ? factors[k / stride] * vector[column] : 0.0;
                CHECK_NEAR(rows[k], before[k] + change, 1e-12);
            }
            // Rows whose factor is zero stay as they are, whatever the vector.
            const std::vector<double> infinite(width, std::numeric_limits<double>::infinity());
            const std::vector<double> zeros(3);
            const std::vector<double> unchanged = rows;
            table->update_rows(rows.data(), 3, stride, zeros.data(), infinite.data(), width);
            CHECK(rows == unchanged);
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

TEST(halves_of_pairs_are_compared_as_by_a_plain_loop) {
    Random random(10);
    constexpr std::size_t points = 3;
    constexpr std::size_t others = 2 * word_bits;
    const auto floats = [&](std::size_t size) {
        const std::vector<double> exact = random_vector(random, size);
        return std::vector<float>(exact.begin(), exact.end());
    };
    for (const float inset : {0.0f, 0.5f, 3.0f}) {
        const std::vector<float> point_values = floats(points);
        const std::vector<float> values = floats(others);
        const std::vector<float> ends = floats(word_bits);
        const PairHalves halves{point_values.data(), values.data(), inset, -0.25f};
        for (const std::uint64_t wanted : {~std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63,
                                           std::uint64_t{0xff00}, std::uint64_t{0x00ff00ff'0000ffff}}) {
            for (std::size_t point = 0; point < points; ++point) {
                for (const std::size_t begin : {std::size_t{0}, word_bits}) {
                    std::uint64_t below = 0;
                    std::vector<float> expected(word_bits);
                    for (std::size_t j = 0; j < word_bits; ++j) {
                        const float difference = point_values[point] - values[begin + j];
                        const float beyond = difference + (difference + inset);
                        expected[j] = ends[j] + std::min({0.0f, difference, beyond});
                        below |= static_cast<std::uint64_t>(expected[j] < halves.low) << j;
                    }
                    for (const Kernels* table : usable_tables()) {
                        std::vector<float> halved(word_bits);
                        CHECK(table->halve_pairs(halves, point, begin, wanted, ends.data(), halved.data()) ==
                              (below & wanted));
                        for (std::size_t j = 0; j < word_bits; ++j) {
                            CHECK((wanted >> j & 1) == 0 || halved[j] == expected[j]);
                        }
                    }
                }
            }
        }
    }
}

// Sums in the order of the columns, as in every table. Factors are powers of two, so even the last digit is the
// same.
TEST(pairs_are_compared_as_by_a_plain_loop) {
    Random random(9);
    constexpr std::size_t points = 3;
    constexpr std::size_t others = 2 * word_bits;
    for (int trial = 0; trial < 8; ++trial) {
        const std::size_t features = std::array<std::size_t, 4>{0, 1, 5, 9}[static_cast<std::size_t>(trial) / 2];
        const bool has_insets = trial % 2 == 1;
        const auto floats = [&](std::size_t size) {
            const std::vector<double> exact = random_vector(random, size);
            return std::vector<float>(exact.begin(), exact.end());
        };
        const std::vector<float> point_columns = floats(features * points);
        const std::vector<float> point_lows = floats(points);
        const std::vector<float> columns = floats(features * others);
        const std::vector<float> lows = floats(others);
        std::vector<float> point_highs = point_lows;
        std::vector<float> highs = lows;
        for (std::size_t i = 0; i < points; ++i) {
            point_highs[i] += 0.1f;
        }
        for (std::size_t j = 0; j < others; ++j) {
            highs[j] += 0.2f;
        }
        // Some of them are larger than the differences.
        std::vector<float> insets(features);
        std::generate(insets.begin(), insets.end(), [&random] { return static_cast<float>(random.uniform()); });
        const PairRanges ranges{point_columns.data(),
                                points,
                                point_lows.data(),
                                point_highs.data(),
                                columns.data(),
                                others,
                                lows.data(),
                                highs.data(),
                                features,
                                has_insets ? insets.data() : nullptr,
                                3.0f,
                                -1.0f};
        for (const std::uint64_t wanted : {~std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63,
                                           std::uint64_t{0x00ff00000000f000}, std::uint64_t{0}}) {
            for (std::size_t point = 0; point < points; ++point) {
                for (const std::size_t begin : {std::size_t{0}, word_bits}) {
                    std::uint64_t below = 0;
                    std::uint64_t reaching = 0;
                    std::vector<float> expected(word_bits);
                    for (std::size_t j = 0; j < word_bits; ++j) {
                        float radius = 0;
                        float excess = 0;
                        for (std::size_t k = 0; k < features; ++k) {
                            const float size =
                                std::fabs(point_columns[k * points + point] - columns[k * others + begin + j]);
                            radius += size;
                            excess += has_insets ? std::max(0.0f, size - insets[k]) : size;
                        }
                        expected[j] = (point_highs[point] - lows[begin + j]) + (radius + excess);
                        below |= static_cast<std::uint64_t>(expected[j] < ranges.low) << j;
                        reaching |= static_cast<std::uint64_t>((point_lows[point] - highs[begin + j]) - 2 * radius <
                                                               ranges.high)
                                    << j;
                    }
                    for (const Kernels* table : usable_tables()) {
                        // Unaligned on purpose.
                        std::vector<float> room(word_bits + 1);
                        float* ends = room.data() + 1;
                        const PairBits bits = table->compare_pairs(ranges, point, begin, wanted, ends);
                        CHECK((bits.below & wanted) == (below & wanted));
                        CHECK((bits.reaching & wanted) == (reaching & wanted));
                        for (const float limit : {-1.0f, 0.0f, 2.5f}) {
                            std::uint64_t ending = 0;
                            for (std::size_t j = 0; j < word_bits; ++j) {
                                if ((wanted >> j & 1) != 0) {
                                    CHECK(ends[j] == expected[j]);
                                    ending |= static_cast<std::uint64_t>(expected[j] < limit) << j;
                                }
                            }
                            CHECK(table->compare_ends(ends, limit, wanted) == ending);
                        }
                    }
                }
            }
        }
    }
}

TEST(the_best_usable_table_serves_unless_the_environment_names_another) {
    const char* wanted = std::getenv("HARDMARGIN_KERNELS");
    const Kernels* best = nullptr;
    for (const NamedKernels& table : all_kernels()) {
        if (table.usable && (wanted == nullptr || *wanted == '\0' || std::string(wanted) == table.name)) {
            best = table.table;
        }
        CHECK((std::string(kernels_name()) == table.name) == (&kernels == table.table));
    }
    CHECK(&kernels == best);
    CHECK(kernels_error().empty());
}
