#include "literature/cut_oracle.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/samples.h"
#include "qp/certificate.h"
#include "qp/max_margin.h"

namespace hardmargin {

namespace {

// The share by which a proof must exceed the largest value of the region.
constexpr double safety = 1e-9;

double largest_value(const Samples& samples, WeightRegion region, double radius) {
    const double features = region == WeightRegion::box ? static_cast<double>(samples.dimension()) : 1.0;
    return 0.5 * features * radius * radius * (1 + safety);
}

std::vector<ExtraRow> box_rows(const Samples& samples, double radius) {
    std::vector<ExtraRow> rows;
    for (std::size_t j = 0; j < samples.dimension(); ++j) {
        for (const double sign : {1.0, -1.0}) {
            ExtraRow row{std::vector<double>(samples.stride()), -radius};
            row.normal[j] = sign;
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

}  // namespace

CutOracle::CutOracle(const Samples& samples, WeightRegion region, double radius)
    : samples_(samples), region_(region), largest_value_(largest_value(samples, region, radius)), solver_(samples) {
    assert(radius * radius > 0);
    if (region == WeightRegion::box) {
        std::vector<ExtraRow> rows = box_rows(samples, radius);
        const std::size_t count = rows.size();
        solver_.set_extra_rows(std::move(rows));
        for (std::size_t j = 0; j < count; ++j) {
            solver_.enable(solver_.extra_row(j));
        }
    }
    start_ = solver_.solution();
}

CutOracle::Answer CutOracle::separate(std::span<const unsigned char> asked) {
    assert(asked.size() == samples_.count());
    const auto is_asked = [&](std::size_t i) { return asked[i] != 0; };
    solver_.restore(start_, [&](std::size_t) { return true; }, [](std::size_t) { return false; });
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (!is_asked(i)) {
            solver_.disable(i);
        }
    }
    const Answer answer = decide();
    start_ = solver_.solution();
    if (answer != Answer::impossible) {
        return answer;
    }
    members_ = proof();
    if (members_.empty()) {
        return Answer::unknown;
    }
    minimise();
    return answer;
}

CutOracle::Answer CutOracle::decide() {
    const bool bounded = region_ != WeightRegion::unbounded;
    switch (solver_.solve(bounded ? largest_value_ : MaxMargin::no_threshold)) {
        case MaxMarginStatus::optimal:
            return Answer::possible;
        case MaxMarginStatus::threshold:
        case MaxMarginStatus::infeasible:
            return solver_.certificate_value() >= largest_value_ ? Answer::impossible : Answer::unknown;
        case MaxMarginStatus::failed:
            break;
    }
    return Answer::unknown;
}

std::vector<std::size_t> CutOracle::proof() const {
    std::vector<Multiplier> multipliers;
    for (const Multiplier& multiplier : solver_.certificate()) {
        if (solver_.rows().keeps(multiplier.row)) {
            multipliers.push_back(multiplier);
        }
    }
    std::stable_sort(multipliers.begin(), multipliers.end(),
                     [](const Multiplier& left, const Multiplier& right) { return left.value < right.value; });
    std::vector<std::size_t> rows;
    for (const Multiplier& multiplier : multipliers) {
        rows.push_back(multiplier.row);
    }
    return rows;
}

void CutOracle::minimise() {
    const auto contains = [](const std::vector<std::size_t>& rows, std::size_t row) {
        return std::find(rows.begin(), rows.end(), row) != rows.end();
    };
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (solver_.enabled(i) && !contains(members_, i)) {
            solver_.disable(i);
        }
    }
    std::vector<std::size_t> needed;
    for (std::vector<std::size_t> open = members_; !open.empty();) {
        const std::size_t sample = open.front();
        solver_.disable(sample);
        if (decide() == Answer::impossible) {
            const std::vector<std::size_t> smaller = proof();
            for (const std::size_t other : open) {
                if (other != sample && !contains(smaller, other)) {
                    solver_.disable(other);
                }
            }
            std::erase_if(open, [&](std::size_t other) { return other == sample || !contains(smaller, other); });
        } else {
            solver_.enable(sample);
            needed.push_back(sample);
            open.erase(open.begin());
        }
    }
    std::sort(needed.begin(), needed.end());
    members_ = std::move(needed);
}

}  // namespace hardmargin
