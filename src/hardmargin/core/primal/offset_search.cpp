#include "primal/offset_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/kernels.h"

namespace hardmargin {

namespace {

// Up to this many pairs a scan, which most often ends early, takes no longer than sorting.
constexpr std::size_t most_pairs_to_scan = 1'000'000;
// A first pass over one in this many samples finds a good pair, which rules out most samples.
constexpr std::size_t coarse_stride = 32;

}  // namespace

ProjectionSearch::Optimum ProjectionSearch::minimise(std::span<const double> projections,
                                                     std::span<const double> labels, std::span<const double> costs,
                                                     double norm_squared) {
    assert(labels.size() == projections.size() && costs.size() == projections.size());
    negatives_.clear();
    positives_.clear();
    double class_costs[2] = {0, 0};  // of the negatives and the positives
    bool finite = true;
    for (std::size_t i = 0; i < projections.size(); ++i) {
        finite = finite && std::isfinite(projections[i]);
        (labels[i] > 0 ? positives_ : negatives_).push_back({projections[i], costs[i]});
        class_costs[labels[i] > 0] += costs[i];
    }
    const auto by_position = [](const Projection& left, const Projection& right) {
        return left.position < right.position;
    };
    best_ = {std::min(class_costs[0], class_costs[1]), 0, class_costs[1] >= class_costs[0] ? 1.0 : -1.0};
    if (!finite) {
        return best_;
    }
    std::sort(negatives_.begin(), negatives_.end(), by_position);
    std::sort(positives_.begin(), positives_.end(), by_position);
    if (positives_.empty() || negatives_.size() <= most_pairs_to_scan / positives_.size()) {
        scan(norm_squared);
    } else {
        divide_and_conquer(norm_squared);
    }
    return best_;
}

void ProjectionSearch::become_best(double objective, double negative, double positive) {
    const double scale = 2 / (positive - negative);
    best_ = {objective, scale, -1 - scale * negative};
}

void ProjectionSearch::scan(double norm_squared) {
    double lost_negatives = 0;
    for (std::size_t j = negatives_.size(); j-- > 0 && lost_negatives < best_.objective;) {
        const double last_kept = negatives_[j].position;
        double lost = lost_negatives;
        for (const Projection& positive : positives_) {
            ++work_;
            if (lost >= best_.objective) {
                break;
            }
            if (positive.position > last_kept) {
                const double scale = 2 / (positive.position - last_kept);
                const double objective = 0.5 * scale * scale * norm_squared + lost;
                if (objective < best_.objective) {
                    become_best(objective, last_kept, positive.position);
                }
            }
            lost += positive.cost;
        }
        lost_negatives += negatives_[j].cost;
    }
}

void ProjectionSearch::divide_and_conquer(double norm_squared) {
    for (const std::size_t stride : {coarse_stride, std::size_t{1}}) {
        collect_ends(stride);
        if (!negative_ends_.empty() && !positive_ends_.empty()) {
            conquer(0, negative_ends_.size(), 0, positive_ends_.size() - 1, norm_squared);
        }
    }
}

void ProjectionSearch::collect_ends(std::size_t stride) {
    // Of samples with the same projection, the one that loses least is enough.
    positive_ends_.clear();
    double lost = 0;
    for (std::size_t k = 0; k < positives_.size() && lost < best_.objective; ++k) {
        const bool repeated = k > 0 && positives_[k].position == positives_[k - 1].position;
        if (!repeated && k % stride == 0) {
            positive_ends_.push_back({positives_[k].position, lost});
        }
        lost += positives_[k].cost;
    }
    negative_ends_.clear();
    if (positive_ends_.empty()) {
        return;
    }
    lost = 0;
    for (std::size_t j = negatives_.size(); j-- > 0 && lost < best_.objective;) {
        const bool repeated = j + 1 < negatives_.size() && negatives_[j].position == negatives_[j + 1].position;
        // Every negative that takes part has a positive above it.
        if (!repeated && j % stride == 0 && negatives_[j].position < positive_ends_.back().position) {
            negative_ends_.push_back({negatives_[j].position, lost});
        }
        lost += negatives_[j].cost;
    }
    std::reverse(negative_ends_.begin(), negative_ends_.end());
}

void ProjectionSearch::conquer(std::size_t first, std::size_t end, std::size_t first_positive,
                               std::size_t last_positive, double norm_squared) {
    const std::size_t middle = first + (end - first) / 2;
    const End& negative = negative_ends_[middle];
    // The last positive is above this negative: it is above another one that is not below this one.
    assert(negative.position < positive_ends_[last_positive].position);
    std::size_t best_positive = last_positive;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = first_positive; k <= last_positive; ++k) {
        const End& positive = positive_ends_[k];
        const double lost = negative.lost + positive.lost;
        ++work_;
        if (lost >= least) {
            break;
        }
        if (positive.position > negative.position) {
            const double scale = 2 / (positive.position - negative.position);
            const double objective = 0.5 * scale * scale * norm_squared + lost;
            if (objective < least) {
                least = objective;
                best_positive = k;
            }
        }
    }
    if (least < best_.objective) {
        become_best(least, negative.position, positive_ends_[best_positive].position);
    }
    if (first < middle) {
        conquer(first, middle, first_positive, best_positive, norm_squared);
    }
    if (middle + 1 < end) {
        conquer(middle + 1, end, best_positive, last_positive, norm_squared);
    }
}

OffsetSearch::Optimum OffsetSearch::minimise(std::span<const double> direction) {
    assert(direction.size() == samples_.stride());
    projections_.resize(samples_.padded_count());
    samples_.margins(direction.data(), 0.0, projections_.data());
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        projections_[i] *= samples_.label(i);
    }
    const ProjectionSearch::Optimum found =
        search_.minimise({projections_.data(), samples_.count()}, samples_.labels(), samples_.costs(),
                         dot(direction.data(), direction.data(), samples_.stride()));
    Optimum best{{std::vector<double>(samples_.stride()), found.bias}, found.objective};
    if (found.scale > 0) {
        add_scaled(best.hyperplane.weights.data(), found.scale, direction.data(), samples_.stride());
    }
    return best;
}

}  // namespace hardmargin
