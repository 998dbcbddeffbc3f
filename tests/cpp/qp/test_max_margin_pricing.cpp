// Problems with so many values that warm starts look for violated rows in single precision first.
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "qp/max_margin.h"

using namespace hardmargin;

namespace {

constexpr std::size_t sample_count = 900;
constexpr std::size_t dimension = 10;

struct Data {
    std::vector<double> features;
    std::vector<double> labels;
};

Data nearly_separable(Random& random) {
    Data data{std::vector<double>(sample_count * dimension), std::vector<double>(sample_count)};
    for (std::size_t i = 0; i < sample_count; ++i) {
        data.labels[i] = random.uniform() < 0.5 ? 1.0 : -1.0;
        for (std::size_t k = 0; k < dimension; ++k) {
            data.features[i * dimension + k] = random.normal() + (k == 0 ? 2.6 * data.labels[i] : 0.0);
        }
    }
    return data;
}

void toggle(MaxMargin& solver, std::size_t row) {
    if (solver.enabled(row)) {
        solver.disable(row);
    } else {
        solver.enable(row);
    }
}

}  // namespace

TEST(no_row_is_missed_after_single_precision) {
    Random random(41);
    int optima = 0;
    int tight_flips = 0;
    int certified = 0;
    for (int trial = 0; trial < 30; ++trial) {
        const Data data = nearly_separable(random);
        const Samples samples(data.features, data.labels, std::vector<double>(sample_count, 1.0));
        MaxMargin warm(samples);
        for (std::size_t i = 0; i < sample_count; ++i) {
            if (random.uniform() < 0.8) {
                warm.enable(i);
            }
        }
        for (int change = 0; change < 40; ++change) {
            for (std::size_t k = random.below(40); k > 0; --k) {
                toggle(warm, random.below(sample_count));
            }
            const std::size_t sample = random.below(sample_count);
            if (!warm.enabled(sample)) {
                toggle(warm, warm.flip_row(sample));
            }
            const double threshold = random.uniform() < 0.3 ? 5 * random.uniform() + 0.1 : MaxMargin::no_threshold;
            const MaxMarginStatus status = warm.solve(threshold);
            if (status == MaxMarginStatus::threshold || status == MaxMarginStatus::infeasible) {
                CHECK(threshold == MaxMargin::no_threshold || warm.certificate_value() >= threshold);
                ++certified;
                // Otherwise most problems to come are as hopeless.
                for (const Multiplier& multiplier :
                     std::vector<Multiplier>(warm.certificate().begin(), warm.certificate().end())) {
                    warm.disable(multiplier.row);
                }
                continue;
            }
            CHECK(status == MaxMarginStatus::optimal);
            ++optima;
            std::vector<double> margins(samples.padded_count());
            samples.margins(warm.weights().data(), warm.bias(), margins.data());
            for (std::size_t i = 0; i < sample_count; ++i) {
                CHECK_NEAR(warm.margins()[i], margins[i], 1e-12 * (1 + std::abs(margins[i])));
                CHECK(!warm.enabled(i) || margins[i] >= 1 - 1e-6);
                if (warm.enabled(warm.flip_row(i))) {
                    CHECK(margins[i] <= 1 + 1e-6);
                    tight_flips += margins[i] >= 1 - 1e-6;
                }
            }
            const double value = warm.value();
            CHECK(warm.certify_solution() >= value * (1 - 1e-6));
        }
    }
    CHECK(optima > 300);
    CHECK(certified > 50);
    CHECK(tight_flips > 50);
}
