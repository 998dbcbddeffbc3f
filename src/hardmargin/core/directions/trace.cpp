#include "directions/trace.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

namespace hardmargin {

namespace {

// A reader allows for rounding errors when it examines a pair; a pair must conflict by more than this share.
constexpr double pair_rounding = 1e-12;

bool before(const PairEdge& left, const PairEdge& right) {
    return left.positive < right.positive || (left.positive == right.positive && left.negative < right.negative);
}

enum Deduced : unsigned char { unknown = 0, in_progress = 1, kept = 2, given_up = 4 };

}  // namespace

RegionTrace::RegionTrace(const Samples& samples, const DirectionFrame& frame, const PairConflicts& pairs)
    : samples_(samples),
      frame_(frame),
      pairs_(pairs),
      certificates_(samples),
      equal_costs_(samples.common_cost() > 0),
      is_deduced_(samples.count()) {}

void RegionTrace::write(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    record_.number(bits >> 32);
    record_.number(bits & 0xffffffffu);
}

void RegionTrace::write(std::span<const Multiplier> certificate) {
    certificates_.write(certificate, record_);
}

void RegionTrace::begin(const DirectionNode& node) {
    record_.clear();
    valid_ = true;
    record_.number(node.proof);
    certificates_.write_unit(record_);
    record_.number(node.face);
    record_.number(node.sign > 0 ? 0 : 1);
    for (std::size_t k = 0; k < node.low.size(); ++k) {
        write(node.low[k]);
        write(node.high[k]);
    }
    write(node.shortest);
    write(node.longest);
    known_.resize(std::max<std::size_t>(known_.size(), 1));
    known_[0].clear();
    depth_ = 0;
}

void RegionTrace::enter(std::size_t depth, const DirectionNode& region) {
    assert(depth > 0 && depth - 1 < known_.size());
    depth_ = depth;
    known_.resize(std::max(known_.size(), depth + 1));
    regions_.resize(std::max(regions_.size(), depth + 1));
    known_[depth] = known_[depth - 1];
    regions_[depth] = region;
}

void RegionTrace::list(const ConflictMatching::State& state) {
    std::vector<Edge>& edges = edges_;
    edges.clear();
    for (std::size_t i = 0; i < state.partner_of_positive.size(); ++i) {
        if (state.partner_of_positive[i] >= 0) {
            edges.push_back(
                {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(state.partner_of_positive[i]), 1});
        }
    }
    // A certain positive has any number of partners, and knows none of them.
    bool sorted = true;
    for (std::size_t j = 0; j < pairs_.negatives(); ++j) {
        const std::int32_t i = state.partner_of_negative[j];
        if (i >= 0 && state.partner_of_positive[static_cast<std::size_t>(i)] != static_cast<std::int32_t>(j)) {
            edges.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), 1});
            sorted = false;
        }
    }
    if (state.impossible) {
        edges.push_back(state.certain_pair);
        sorted = false;
    }
    if (!sorted) {
        std::sort(edges.begin(), edges.end(), before);
    }
}

bool RegionTrace::conflicts(const DirectionNode& region, std::size_t positive, std::size_t negative) const {
    const std::size_t i = pairs_.positive(positive);
    const std::size_t j = pairs_.negative(negative);
    const double least = region.least_length();
    const double greatest = region.greatest_length();
    const double curvature = 2 / (least + greatest);
    double largest = -curvature * least * greatest;
    double size = curvature * least * greatest;
    for (std::size_t k = 0; k < frame_.dimension(); ++k) {
        const double of_positive = region.longest * frame_.coordinate(i, k);
        const double of_negative = region.longest * frame_.coordinate(j, k);
        const double value = of_positive - of_negative;
        const double best = std::clamp(value / (2 * curvature), region.low[k], region.high[k]);
        largest += (value - curvature * best) * best;
        size += std::fabs(of_positive) + std::fabs(of_negative) + curvature * best * best;
    }
    return largest < -pair_rounding * size;
}

void RegionTrace::write_pair(std::size_t positive, std::size_t negative) {
    record_.number(pairs_.positive(positive));
    record_.number(pairs_.negative(negative));
    for (std::size_t depth = depth_; depth > 0; --depth) {
        if (conflicts(regions_[depth], positive, negative)) {
            record_.number(depth_ - depth);
            return;
        }
    }
    record_.number(0);
    valid_ = false;
}

void RegionTrace::write_cover(const DirectionNode& region) {
    regions_[depth_] = region;
    const std::size_t size = record_.size();
    record_.step(ProofStep::pairs);
    write_changes();
    if (gone_.empty() && added_.empty()) {
        record_.shorten(size);
        return;
    }
    std::swap(known_[depth_], edges_);
}

void RegionTrace::write_changes() {
    gone_.clear();
    added_.clear();
    const std::vector<Edge>& known = known_[depth_];
    auto old = known.begin();
    for (const Edge& edge : edges_) {
        for (; old != known.end() && before(*old, edge); ++old) {
            gone_.push_back(*old);
        }
        if (old == known.end() || before(edge, *old)) {
            added_.push_back(edge);
            continue;
        }
        if (old->flow != edge.flow) {
            added_.push_back(edge);
        }
        ++old;
    }
    gone_.insert(gone_.end(), old, known.end());
    record_.number(gone_.size());
    for (const Edge& edge : gone_) {
        record_.number(pairs_.positive(edge.positive));
        record_.number(pairs_.negative(edge.negative));
    }
    record_.number(added_.size());
    for (const Edge& edge : added_) {
        write_pair(edge.positive, edge.negative);
        record_.number(equal_costs_ ? 0 : certificates_.weight(edge.flow) + 1);
    }
}

void RegionTrace::norm(std::span<const Multiplier> certificate) {
    record_.step(ProofStep::region_norm);
    write(certificate);
}

void RegionTrace::set(std::span<const Multiplier> certificate) {
    record_.step(ProofStep::region_set);
    write(certificate);
}

void RegionTrace::split(std::size_t coordinate, bool low_first) {
    record_.step(ProofStep::split);
    record_.number(2 * coordinate + (low_first ? 0 : 1));
}

void RegionTrace::split_lengths(double middle) {
    record_.step(ProofStep::split_lengths);
    write(middle);
}

void RegionTrace::open(std::uint64_t number, const DirectionNode& region) {
    record_.step(ProofStep::open);
    record_.number(number);
    write(region.longest);
}

void RegionTrace::deduce_kept(std::size_t sample) {
    if ((is_deduced_[sample] & kept) != 0) {
        return;
    }
    is_deduced_[sample] |= kept;
    const std::int32_t reason = closure_->kept_because[sample];
    if (reason >= 0) {
        deduce_given_up(static_cast<std::size_t>(reason));
    }
}

void RegionTrace::deduce_given_up(std::size_t sample) {
    if ((is_deduced_[sample] & given_up) != 0) {
        return;
    }
    is_deduced_[sample] |= given_up;
    const std::int32_t reason = closure_->given_up_because[sample];
    if (reason < 0) {
        valid_ = false;
        return;
    }
    deduce_kept(static_cast<std::size_t>(reason));
    deductions_.emplace_back(static_cast<std::size_t>(reason), sample);
}

void RegionTrace::close_exactly(const ConflictClosure& closure, std::span<const MustHitSet> sets,
                                std::span<const std::size_t> kept_samples,
                                std::span<const Multiplier> certificate) {
    closure_ = &closure;
    std::fill(is_deduced_.begin(), is_deduced_.end(), static_cast<unsigned char>(unknown));
    deductions_.clear();
    for (const std::size_t sample : kept_samples) {
        is_deduced_[sample] |= kept;
    }
    const auto is_given_up = [&](std::size_t sample) {
        return (samples_.label(sample) > 0 ? closure.positive_given_up
                                           : closure.negative_given_up)[pairs_.number(sample)] != 0;
    };
    const auto is_kept = [&](std::size_t sample) {
        return (samples_.label(sample) > 0 ? closure.positive_kept
                                           : closure.negative_kept)[pairs_.number(sample)] != 0;
    };
    if (!certificate.empty()) {
        const RowNumbers rows(samples_.count());
        for (const Multiplier& multiplier : certificate) {
            if (rows.keeps(multiplier.row)) {
                deduce_kept(multiplier.row);
            } else if (rows.is_flip(multiplier.row)) {
                deduce_given_up(rows.sample(multiplier.row));
            }
        }
    } else if (closure.impossible) {
        for (const MustHitSet& members : sets) {
            if (std::count_if(members.begin(), members.end(), is_given_up) > 1) {
                std::for_each(members.begin(), members.end(), [&](std::size_t sample) {
                    if (is_given_up(sample)) {
                        deduce_given_up(sample);
                    }
                });
                break;
            }
        }
    } else {
        for (std::size_t sample = 0; sample < samples_.count(); ++sample) {
            if (is_kept(sample) && is_given_up(sample)) {
                deduce_kept(sample);
                deduce_given_up(sample);
                break;
            }
        }
    }
    record_.step(ProofStep::close_exactly);
    record_.number(deductions_.size());
    for (const auto& [keeper, loser] : deductions_) {
        const bool positive = samples_.label(keeper) > 0;
        record_.number(positive ? 1 : 0);
        write_pair(pairs_.number(positive ? keeper : loser), pairs_.number(positive ? loser : keeper));
    }
    write(certificate);
}

void RegionTrace::begin_cases(std::span<const Multiplier> certificate) {
    record_.step(ProofStep::cases);
    write(certificate);
}

void RegionTrace::begin_case(const DirectionNode& region, const ConflictMatching::State& state,
                             std::size_t sample) {
    regions_[depth_] = region;
    record_.step(ProofStep::one_case);
    record_.number(sample);
    list(state);
    write_changes();
}

void RegionTrace::close_by_samples(const ProofRecord& record) {
    record_.step(ProofStep::samples);
    record_.append(record.bytes());
}

}  // namespace hardmargin
