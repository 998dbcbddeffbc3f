#include <cstddef>
#include <vector>

#include "base/samples.h"
#include "check.h"
#include "qp/rows.h"

using namespace hardmargin;

TEST(rows_are_told_apart_and_found_again) {
    constexpr std::size_t count = 3;
    const RowNumbers rows(count);
    for (std::size_t sample = 0; sample < count; ++sample) {
        const std::size_t flip = rows.flip(sample);
        CHECK(rows.keeps(sample) && !rows.is_flip(sample) && !rows.is_extra(sample));
        CHECK(!rows.keeps(flip) && rows.is_flip(flip) && !rows.is_extra(flip));
        CHECK(rows.sample(sample) == sample && rows.sign(sample) == 1);
        CHECK(rows.sample(flip) == sample && rows.sign(flip) == -1);
    }
    for (std::size_t index = 0; index < 2; ++index) {
        const std::size_t extra = rows.extra(index);
        CHECK(!rows.keeps(extra) && !rows.is_flip(extra) && rows.is_extra(extra));
        CHECK(rows.extra_index(extra) == index);
    }
    CHECK(rows.flip(count - 1) + 1 == rows.sample_rows());
    CHECK(rows.extra(0) == rows.sample_rows());
}

TEST(flips_reverse_the_bias_and_extra_rows_have_none) {
    const std::vector<double> features = {1.0, 2.0};
    const std::vector<double> labels = {1.0, -1.0};
    const std::vector<double> costs = {1.0, 1.0};
    const Samples samples(features, labels, costs);
    const RowNumbers rows(samples.count());
    for (std::size_t sample = 0; sample < samples.count(); ++sample) {
        CHECK(bias_coefficient(samples, sample) == labels[sample]);
        CHECK(bias_coefficient(samples, rows.flip(sample)) == -labels[sample]);
    }
    CHECK(bias_coefficient(samples, rows.extra(0)) == 0);
}
