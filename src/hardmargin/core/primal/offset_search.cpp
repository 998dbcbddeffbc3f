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
// A first pass over one in this many samples finds a good pair, which rules out most samples. A prime, because the
// order of the samples may have a period.
constexpr std::size_t coarse_stride = 31;
// How much farther samples are collected than that pass says, in standard deviations of its count. If these are too
// few, this is noticed, and all samples are used.
constexpr double deviations = 3;

}  // namespace

ProjectionSearch::Optimum ProjectionSearch::minimise(std::span<const double> projections,
                                                     std::span<const double> labels, std::span<const double> costs,
                                                     double norm_squared) {
    assert(labels.size() == projections.size() && costs.size() == projections.size());
    double class_costs[2] = {0, 0};  // of the negatives and the positives
    std::size_t positive_count = 0;
    bool finite = true;
    for (std::size_t i = 0; i < projections.size(); ++i) {
        finite = finite && std::isfinite(projections[i]);
        positive_count += labels[i] > 0;
        class_costs[labels[i] > 0] += costs[i];
    }
    const Optimum cheaper_class = {std::min(class_costs[0], class_costs[1]), 0,
                                   class_costs[1] >= class_costs[0] ? 1.0 : -1.0};
    best_ = cheaper_class;
    if (!finite) {
        return best_;
    }
    const std::size_t negative_count = projections.size() - positive_count;
    if (positive_count == 0 || negative_count <= most_pairs_to_scan / positive_count) {
        collect(projections, labels, costs, 1, Reach{});
        scan(norm_squared);
        return best_;
    }
    Reach reach;
    const double known = coarse_minimum(projections, labels, costs, norm_squared, reach);
    best_ = cheaper_class;
    // The pair is found again, whatever the order of summation.
    const double rounding = 4 * static_cast<double>(projections.size()) * std::numeric_limits<double>::epsilon();
    best_.objective = std::min(best_.objective, known * (1 + rounding));
    const std::array<double, 2> collected = collect(projections, labels, costs, 1, reach);
    if (std::min(collected[0], collected[1]) >= best_.objective) {
        divide_and_conquer(norm_squared);
        if (best_.scale > 0 || known >= cheaper_class.objective) {
            return best_;
        }
    }
    best_ = cheaper_class;
    collect(projections, labels, costs, 1, Reach{});
    divide_and_conquer(norm_squared);
    return best_;
}

std::array<double, 2> ProjectionSearch::collect(std::span<const double> projections, std::span<const double> labels,
                                                std::span<const double> costs, std::size_t stride,
                                                const Reach& reach) {
    negatives_.clear();
    positives_.clear();
    std::array<double, 2> collected = {0, 0};
    for (std::size_t i = 0; i < projections.size(); i += stride) {
        const bool positive = labels[i] > 0;
        // Without branches on the label, which cannot be predicted.
        const bool within = (positive & (projections[i] <= reach.highest_positive)) |
                            (!positive & (projections[i] >= reach.lowest_negative));
        if (within) {
            (positive ? positives_ : negatives_).push_back({projections[i], costs[i]});
            collected[positive] += costs[i];
        }
    }
    const auto by_position = [](const Projection& left, const Projection& right) {
        return left.position < right.position;
    };
    std::sort(negatives_.begin(), negatives_.end(), by_position);
    std::sort(positives_.begin(), positives_.end(), by_position);
    return collected;
}

double ProjectionSearch::coarse_minimum(std::span<const double> projections, std::span<const double> labels,
                                        std::span<const double> costs, double norm_squared, Reach& reach) {
    collect(projections, labels, costs, coarse_stride, Reach{});
    double largest_cost = 0;
    for (std::vector<Projection>* side : {&negatives_, &positives_}) {
        for (Projection& projection : *side) {
            projection.cost *= coarse_stride;
            largest_cost = std::max(largest_cost, projection.cost);
        }
    }
    const double cheaper_class = best_.objective;
    divide_and_conquer(norm_squared);
    double known = std::numeric_limits<double>::infinity();
    if (best_.scale > 0) {
        known = 0.5 * best_.scale * best_.scale * norm_squared;
        for (std::size_t i = 0; i < projections.size(); ++i) {
            const bool positive = labels[i] > 0;
            const bool kept =
                (positive & (projections[i] >= best_positive_)) | (!positive & (projections[i] <= best_negative_));
            known += kept ? 0.0 : costs[i];
        }
    }
    const double bound = std::min(known, cheaper_class);
    const double enough = bound + deviations * std::sqrt(bound * largest_cost);
    double beyond = 0;
    for (std::size_t k = 0; k < positives_.size() && beyond < enough; ++k) {
        beyond += positives_[k].cost;
        if (beyond >= enough) {
            reach.highest_positive = positives_[k].position;
        }
    }
    beyond = 0;
    for (std::size_t j = negatives_.size(); j-- > 0 && beyond < enough;) {
        beyond += negatives_[j].cost;
        if (beyond >= enough) {
            reach.lowest_negative = negatives_[j].position;
        }
    }
    return known;
}

void ProjectionSearch::become_best(double objective, double negative, double positive) {
    const double scale = 2 / (positive - negative);
    best_ = {objective, scale, -1 - scale * negative};
    best_negative_ = negative;
    best_positive_ = positive;
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
    collect_ends();
    if (!negative_ends_.empty() && !positive_ends_.empty()) {
        conquer(0, negative_ends_.size(), 0, positive_ends_.size() - 1, norm_squared);
    }
}

void ProjectionSearch::collect_ends() {
    // Of samples with the same projection, the one that loses least is enough.
    positive_ends_.clear();
    double lost = 0;
    for (std::size_t k = 0; k < positives_.size() && lost < best_.objective; ++k) {
        const bool repeated = k > 0 && positives_[k].position == positives_[k - 1].position;
        if (!repeated) {
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
        if (!repeated && negatives_[j].position < positive_ends_.back().position) {
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
