#include "packing/cover_choice.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hardmargin {

namespace {

// The unfavoured way gets the first share of the favoured one's work until there is enough evidence, and then the
// second one, divided by how much worse it is.
constexpr double first_share = 1.0 / 4;
constexpr double later_share = 1.0 / 16;
// A trial ends when it takes this many times the work of the favoured way.
constexpr double patience = 2;
// This many times the work of the favoured way is enough evidence, even if few subtrees were closed.
constexpr double disappointing = 3;
// The favoured way changes only if at least this many subtrees were closed each way.
constexpr double least_evidence = 4;
// The cover bound is left out at a distance only if that saves this factor in work, and more as long as few
// subtrees show it: the relative error of a rating from one subtree, divided by the square root of their number, is
// added.
constexpr double worthwhile = 1.2;
constexpr double error_of_one = 0.7;
// Both records of a distance are halved when one of them has more closed subtrees than this.
constexpr double memory = 64;

}  // namespace

std::size_t CoverChoice::threshold() const {
    const std::lock_guard lock(mutex_);
    return threshold_;
}

CoverChoice::Decision CoverChoice::decide(double distance) {
    assert(!std::isnan(distance));
    const std::lock_guard lock(mutex_);
    const double whole = std::floor(std::clamp(distance, 0.0, static_cast<double>(largest_distance)));
    Decision decision{.distance = static_cast<std::size_t>(whole), .most_work = unlimited};
    decision.way = favoured(decision.distance);
    if (!is_tried(decision.distance)) {
        return decision;
    }
    const Way other = decision.way == Way::with_cover ? Way::without_cover : Way::with_cover;
    const Record& known = record(decision.way, decision.distance);
    const Record& tried = record(other, decision.distance);
    double share = first_share;
    if (tried.closed >= least_evidence || tried.work > disappointing * known.rating()) {
        share = later_share * std::min(1.0, known.rating() / tried.rating());
    }
    if (known.closed > 0 && tried.work + known.rating() <= share * known.work) {
        decision.way = other;
        decision.most_work = static_cast<std::uint64_t>(patience * known.rating());
    }
    return decision;
}

void CoverChoice::note(const Decision& decision, std::uint64_t work, bool closed) {
    assert(decision.distance <= largest_distance);
    const std::lock_guard lock(mutex_);
    Record& noted = record(decision.way, decision.distance);
    noted.work += static_cast<double>(work);
    noted.closed += closed ? 1 : 0;
    if (is_tried(decision.distance)) {
        reconsider(decision.distance);
    }
    if (noted.closed > memory) {
        for (const Way way : {Way::with_cover, Way::without_cover}) {
            record(way, decision.distance).work /= 2;
            record(way, decision.distance).closed /= 2;
        }
    }
}

void CoverChoice::reconsider(std::size_t distance) {
    const bool with_cover = favoured(distance) == Way::with_cover;
    const Record& known = record(with_cover ? Way::with_cover : Way::without_cover, distance);
    const Record& tried = record(with_cover ? Way::without_cover : Way::with_cover, distance);
    if (std::min(tried.closed, known.closed) < least_evidence) {
        return;
    }
    const double required = with_cover ? worthwhile * (1 + error_of_one / std::sqrt(tried.closed)) : 1.0;
    if (tried.rating() * required > known.rating()) {
        return;
    }
    threshold_ = with_cover ? distance + 1 : distance;
}

}  // namespace hardmargin
