#include "qp/certificate.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/kernels.h"

namespace hardmargin {

namespace {

constexpr double rounding_unit = 0x1p-52;
// Multipliers become integers of at most this many bits, fewer if their sum would have more bits than a double.
constexpr int most_multiplier_bits = 40;
constexpr int double_bits = 52;
// Squares of values below 1e-154 underflow in a norm. With multipliers of 40 bits the loss is less than this.
constexpr double underflow_allowance = 1e-135;
// Roundings of a term before it is added, and of the result afterwards.
constexpr std::size_t roundings_of_term = 8;
constexpr double roundings_of_result = 8;

std::int64_t whole_bias_coefficient(const Samples& samples, std::size_t row) {
    return static_cast<std::int64_t>(bias_coefficient(samples, row));
}

// The multipliers in units of a power of two, chosen so that the largest one has as many bits as allowed. Empty if
// they are not usable.
std::vector<WholeMultiplier> rounded(std::span<const Multiplier> multipliers) {
    double largest = 0;
    for (const Multiplier& multiplier : multipliers) {
        if (!(multiplier.value >= 0) || std::isinf(multiplier.value)) {
            return {};
        }
        largest = std::max(largest, multiplier.value);
    }
    std::vector<WholeMultiplier> whole;
    if (largest < std::numeric_limits<double>::min()) {
        return whole;
    }
    const int bits =
        std::min(most_multiplier_bits, double_bits - static_cast<int>(std::bit_width(multipliers.size())));
    const int exponent = bits - 1 - std::ilogb(largest);
    whole.reserve(multipliers.size());
    for (const Multiplier& multiplier : multipliers) {
        const auto value = static_cast<std::int64_t>(std::llrint(std::ldexp(multiplier.value, exponent)));
        if (value > 0) {
            whole.push_back({multiplier.row, value});
        }
    }
    return whole;
}

// Makes sum lambda c exactly zero by increasing one multiplier; false if none can.
bool cancel_bias(const Samples& samples, std::vector<WholeMultiplier>& whole) {
    std::int64_t residual = 0;
    for (const WholeMultiplier& multiplier : whole) {
        residual += whole_bias_coefficient(samples, multiplier.row) * multiplier.value;
    }
    if (residual == 0) {
        return true;
    }
    const std::int64_t wanted = residual > 0 ? -1 : 1;
    WholeMultiplier* largest = nullptr;
    for (WholeMultiplier& multiplier : whole) {
        if (whole_bias_coefficient(samples, multiplier.row) == wanted &&
            (largest == nullptr || multiplier.value > largest->value)) {
            largest = &multiplier;
        }
    }
    if (largest == nullptr) {
        return false;
    }
    largest->value += std::abs(residual);
    return true;
}

}  // namespace

std::vector<WholeMultiplier> whole_multipliers(const Samples& samples, std::span<const Multiplier> multipliers) {
    std::vector<WholeMultiplier> whole = rounded(multipliers);
    if (!cancel_bias(samples, whole)) {
        whole.clear();
    }
    return whole;
}

double certified_value(const Samples& samples, std::span<const ExtraRow> extra_rows,
                       std::span<const Multiplier> multipliers) {
    const RowNumbers numbers(samples.count());
    const std::vector<WholeMultiplier> whole = whole_multipliers(samples, multipliers);
    if (whole.empty()) {
        return 0;
    }
    std::vector<double> gradient(samples.stride());
    double demand = 0;         // sum lambda d
    double demand_size = 0;    // sum of the absolute values of its inexact terms
    double gradient_size = 0;  // sum lambda ||a||
    for (const WholeMultiplier& multiplier : whole) {
        const auto factor = static_cast<double>(multiplier.value);
        if (!numbers.is_extra(multiplier.row)) {
            const std::size_t i = numbers.sample(multiplier.row);
            const double signed_factor = numbers.sign(multiplier.row) * factor;
            add_scaled(gradient.data(), signed_factor, samples.row(i), samples.stride());
            demand += signed_factor;
            gradient_size += factor * samples.norm(i);
        } else {
            assert(numbers.extra_index(multiplier.row) < extra_rows.size());
            const ExtraRow& extra = extra_rows[numbers.extra_index(multiplier.row)];
            assert(extra.normal.empty() || extra.normal.size() == samples.stride());
            extra.add_to(gradient.data(), factor);
            demand += factor * extra.bound;
            demand_size += factor * std::abs(extra.bound);
            gradient_size += factor * extra.length();
        }
    }
    const double terms = static_cast<double>(whole.size() + samples.dimension() + roundings_of_term);
    // If the sum has an inexact term, the integer terms are rounded too.
    if (demand_size > 0) {
        for (const WholeMultiplier& multiplier : whole) {
            demand_size += numbers.is_extra(multiplier.row) ? 0.0 : static_cast<double>(multiplier.value);
        }
    }
    const double safe_demand = demand - terms * rounding_unit * demand_size;
    const double norm = std::sqrt(dot(gradient.data(), gradient.data(), samples.stride()));
    const double safe_norm =
        norm * (1 + terms * rounding_unit) + terms * rounding_unit * gradient_size + underflow_allowance;
    if (!(safe_demand > 0) || !std::isfinite(safe_norm)) {
        return 0;
    }
    const double ratio = safe_demand / safe_norm;
    const double value = 0.5 * ratio * ratio * (1 - roundings_of_result * rounding_unit);
    return std::isfinite(value) ? value : std::numeric_limits<double>::max();
}

}  // namespace hardmargin
