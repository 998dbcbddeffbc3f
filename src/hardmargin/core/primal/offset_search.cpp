#include "primal/offset_search.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "base/kernels.h"

namespace hardmargin {

OffsetSearch::Optimum OffsetSearch::minimise(std::span<const double> direction, const std::function<bool()>& stop) {
    assert(direction.size() == samples_.stride());
    margins_.resize(samples_.padded_count());
    samples_.margins(direction.data(), 0.0, margins_.data());
    negatives_.clear();
    positives_.clear();
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (samples_.label(i) > 0) {
            positives_.push_back({margins_[i], samples_.cost(i)});
        } else {
            negatives_.push_back({-margins_[i], samples_.cost(i)});
        }
    }
    const auto by_position = [](const Projection& left, const Projection& right) {
        return left.position < right.position;
    };
    std::sort(negatives_.begin(), negatives_.end(), by_position);
    std::sort(positives_.begin(), positives_.end(), by_position);

    Optimum best{{std::vector<double>(samples_.stride()), flat_.bias}, flat_.objective};
    const double norm_squared = dot(direction.data(), direction.data(), samples_.stride());
    double best_scale = 0;
    double best_position = 0;
    double lost_negatives = 0;
    constexpr std::uint64_t work_between_stops = 1'000'000;
    std::uint64_t work_at_stop = work_;
    for (std::size_t j = negatives_.size(); j-- > 0 && lost_negatives < best.objective;) {
        if (work_ - work_at_stop > work_between_stops) {
            work_at_stop = work_;
            if (stop()) {
                break;
            }
        }
        const double last_kept = negatives_[j].position;
        double lost = lost_negatives;
        for (const Projection& positive : positives_) {
            ++work_;
            if (lost >= best.objective) {
                break;
            }
            if (positive.position > last_kept) {
                const double scale = 2 / (positive.position - last_kept);
                const double objective = 0.5 * scale * scale * norm_squared + lost;
                if (objective < best.objective) {
                    best.objective = objective;
                    best_scale = scale;
                    best_position = last_kept;
                }
            }
            lost += positive.cost;
        }
        lost_negatives += negatives_[j].cost;
    }
    if (best_scale > 0) {
        add_scaled(best.hyperplane.weights.data(), best_scale, direction.data(), samples_.stride());
        best.hyperplane.bias = -1 - best_scale * best_position;
    }
    return best;
}

}  // namespace hardmargin
