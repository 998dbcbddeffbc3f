#include "packing/state.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/rounding.h"

namespace hardmargin {

namespace {

// Samples with less than this share of their cost left are not used for another set.
constexpr double negligible_share = 0.02;
// The relative error of sums of few costs is below this.
constexpr double least_rounding_share = 1e-12;
// The same for the weights in the record of a proof, which are rounded down (packing/trace.cpp). Only a budget
// needs it: otherwise, the bound that a record has to prove is lowered by as much.
constexpr double recorded_rounding_share = 1e-11;
// Thresholds of the solver must be positive.
constexpr double least_threshold = 1e-300;
constexpr int most_failures = 1;

}  // namespace

PackingState::PackingState(const Samples& samples, const PackingOptions& options, ImproveFunction improve)
    : samples_(samples),
      rounding_share_(sum_rounding(samples.count(), options.traces && options.budget.limits_any()
                                                        ? recorded_rounding_share
                                                        : least_rounding_share)),
      options_(options),
      improve_(std::move(improve)),
      solver_(samples),
      decided_(samples),
      statuses_(samples.count()),
      residual_(samples.count()),
      cover_(samples, options.traces),
      separator_(samples),
      typical_cost_(samples.typical_cost()) {
    assert(!options_.uses_cover() || options_.knowledge);
    assert(!options_.knowledge || options_.knowledge->is_of(samples));
    assert(!options_.uses_cover() || !options_.traces || options_.knowledge->keeps_certificates);
    if (options_.traces) {
        trace_ = std::make_unique<PackingTrace>(samples);
    }
}

void PackingState::set_stop(const std::function<bool()>& stop) {
    solver_.set_stop(stop);
    stop_ = stop;
    decided_.set_stop(stop);
    separator_.set_stop(stop);
    cover_.set_stop(stop);
}

void PackingState::set_region(const std::vector<ExtraRow>& rows) {
    if (options_.uses_cover()) {
        throw std::logic_error("packing: a region cannot be searched with the cover bound");
    }
    is_loaded_ = false;
    region_rows_ = rows.size();
    for (MaxMargin* solver : {&solver_, &decided_, &separator_}) {
        solver->set_extra_rows(rows);
    }
}

void PackingState::load(const PackingNode& node, double upper) {
    is_loaded_ = true;
    upper_ = upper;
    solver_.clear();
    decided_.clear();
    for (MaxMargin* solver : {&solver_, &decided_, &separator_}) {
        for (std::size_t j = 0; j < region_rows_; ++j) {
            solver->enable(solver->extra_row(j));
        }
    }
    sets_.clear();
    given_up_cost_ = 0;
    given_up_of_class_ = {};
    packed_cost_ = 0;
    proven_cost_ = 0;
    decisions_ = 0;
    share_sets();
    cover_.trim(options_.pool_memory);
    cover_basis_ = nullptr;
    loaded_basis_ = nullptr;
    cover_values_.clear();
    without_cover_ = false;
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        statuses_[i] = SampleStatus::free;
        residual_[i] = samples_.cost(i);
        solver_.enable(i);
    }
    for (const std::uint32_t sample : node.given_up) {
        give_up(sample);
    }
    for (const std::uint32_t sample : node.kept) {
        keep(sample);
    }
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (samples_.certain(i) && is_free(i)) {
            keep(i);
        }
    }
    if (options_.uses_cover()) {
        cover_.begin(statuses_);
    }
}

void PackingState::share_sets() {
    if (options_.uses_cover()) {
        cover_.exchange(options_.knowledge->sets, options_.pool_memory);
    }
}

PackingNode PackingState::node(double bound) const {
    PackingNode node{{}, {}, bound, effective_upper()};
    for (std::size_t i = 0; i < statuses_.size(); ++i) {
        if (statuses_[i] == SampleStatus::kept) {
            node.kept.push_back(static_cast<std::uint32_t>(i));
        } else if (statuses_[i] == SampleStatus::given_up) {
            node.given_up.push_back(static_cast<std::uint32_t>(i));
        }
    }
    return node;
}

// ---- decisions

void PackingState::give_up(std::size_t sample) {
    assert(is_free(sample));
    for (std::size_t index = sets_.size(); index-- > 0;) {
        const auto& members = sets_[index].members;
        if (std::any_of(members.begin(), members.end(), [&](const Member& m) { return m.sample == sample; })) {
            dissolve(index);
        }
    }
    statuses_[sample] = SampleStatus::given_up;
    given_up_cost_ += samples_.cost(sample);
    given_up_of_class_[samples_.label(sample) > 0] += samples_.cost(sample);
    ++decisions_;
    solver_.disable(sample);
    solver_.enable(solver_.flip_row(sample));
    decided_.enable(decided_.flip_row(sample));
}

Verdict PackingState::keep(std::size_t sample) {
    assert(is_free(sample));
    statuses_[sample] = SampleStatus::kept;
    ++decisions_;
    solver_.enable(sample);
    decided_.enable(sample);
    for (PackedSet& set : sets_) {
        std::erase_if(set.members, [&](const Member& member) { return member.sample == sample; });
        if (set.members.empty()) {
            if (trace_) {
                trace_->close(set.number);
            }
            return Verdict::closed;
        }
    }
    settle_single_sets();
    return Verdict::open;
}

void PackingState::settle_single_sets() {
    for (bool again = true; again;) {
        again = false;
        for (const PackedSet& set : sets_) {
            if (set.members.size() == 1) {
                if (trace_) {
                    trace_->unit(set.number);
                }
                give_up(set.members[0].sample);
                again = true;
                break;
            }
        }
    }
}

bool PackingState::has_cost_left(std::size_t sample) const {
    return residual_[sample] > negligible_share * samples_.cost(sample);
}

void PackingState::adjust_residual(std::size_t sample, double change) {
    residual_[sample] = std::max(0.0, residual_[sample] + change);
    if (statuses_[sample] != SampleStatus::free) {
        return;
    }
    if (has_cost_left(sample)) {
        solver_.enable(sample);
    } else {
        solver_.disable(sample);
    }
}

void PackingState::dissolve(std::size_t index) {
    const PackedSet set = std::move(sets_[index]);
    sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(index));
    packed_cost_ -= set.share;
    for (const Member& member : set.members) {
        adjust_residual(member.sample, set.share);
    }
}

void PackingState::pack(std::vector<Member> members, PackingTrace::SetNumber number) {
    assert(!members.empty());
    double share = residual_[members[0].sample];
    for (const Member& member : members) {
        share = std::min(share, residual_[member.sample]);
    }
    packed_cost_ += share;
    for (const Member& member : members) {
        adjust_residual(member.sample, -share);
    }
    sets_.push_back({std::move(members), share, number});
}

void PackingState::collect_free_members(const MaxMargin& solver, std::vector<Member>& members) const {
    members.clear();
    for (const Multiplier& multiplier : solver.certificate()) {
        if (solver.rows().keeps(multiplier.row) && statuses_[multiplier.row] == SampleStatus::free) {
            members.push_back({multiplier.row, multiplier.value});
        }
    }
}

// ---- conclusions

Verdict PackingState::tighten() {
    assert(is_loaded_);
    // After the cover bound, repacking gains little.
    bool covered = false;
    decision_.reset();
    cover_values_.clear();
    for (;;) {
        if (keep_what_does_not_fit() == Verdict::closed || extend() == Verdict::closed) {
            return Verdict::closed;
        }
        Found found = shrink();
        if (found == Found::nothing && !covered) {
            found = repack();
        }
        if (found == Found::nothing) {
            cover_values_.clear();
            if (uses_cover()) {
                found = cover();
                covered = true;
            }
        }
        if (found == Found::closed) {
            return Verdict::closed;
        }
        if (found == Found::nothing || stop_()) {
            return Verdict::open;
        }
    }
}

Verdict PackingState::keep_what_does_not_fit() {
    const Budget& budget = options_.budget;
    for (std::size_t i = 0; budget.limits_any() && i < statuses_.size(); ++i) {
        const bool positive = samples_.label(i) > 0;
        const double of_class = given_up_of_class_[positive] + samples_.cost(i);
        const double of_all = given_up_cost_ + samples_.cost(i);
        const bool fits =
            safely_below(of_class) <= budget.of_class(positive) && safely_below(of_all) <= budget.total;
        if (!is_free(i) || fits) {
            continue;
        }
        if (trace_) {
            trace_->keep_dear(i);
        }
        if (keep(i) == Verdict::closed) {
            return Verdict::closed;
        }
    }
    return Verdict::open;
}

Verdict PackingState::extend() {
    int failures = 0;
    for (;;) {
        if (is_used_up()) {
            write_closed_by_cost();
            return Verdict::closed;
        }
        const MaxMarginStatus status = solver_.solve(room());
        if (status == MaxMarginStatus::failed) {
            solver_.forget();
            if (++failures > most_failures) {
                return Verdict::open;
            }
            continue;
        }
        if (status == MaxMarginStatus::optimal) {
            const double before = upper_;
            upper_ = improve_(solver_);
            if (upper_ < before) {
                continue;
            }
            return Verdict::open;
        }
        collect_free_members(solver_, found_);
        const PackingTrace::SetNumber number = write(solver_);
        if (learns()) {
            cover_.learn(solver_);
        }
        if (found_.empty()) {
            if (trace_) {
                trace_->close(number);
            }
            return Verdict::closed;
        }
        if (found_.size() == 1) {
            if (trace_) {
                trace_->unit(number);
            }
            give_up(found_[0].sample);
        } else {
            pack(found_, number);
        }
    }
}

// ---- the record of a proof

void PackingState::write_packing() {
    packed_.clear();
    for (const PackedSet& set : sets_) {
        packed_.push_back({set.number, set.share});
    }
    trace_->pack(packed_);
}

PackingTrace::SetNumber PackingState::write(const MaxMargin& solver) {
    if (!trace_) {
        return 0;
    }
    write_packing();
    return trace_->add(solver.certificate());
}

void PackingState::write_closed_by_cost() {
    if (trace_) {
        write_packing();
        trace_->close_by_cost();
    }
}

// ---- bounds and snapshots

double PackingState::norm_of_decided() {
    switch (decided_.solve(std::max(room(), least_threshold))) {
        case MaxMarginStatus::optimal:
            return decided_.certify_solution();
        case MaxMarginStatus::threshold:
        case MaxMarginStatus::infeasible:
            return decided_.certificate_value();
        case MaxMarginStatus::failed:
            break;
    }
    return 0;
}

double PackingState::bound() {
    const double norm = norm_of_decided();
    const double value = std::max(cutoff().value(norm, safely_below(known_cost())),
                                  options_.objective.value(norm, safely_below(priced_cost())));
    return std::min(value, effective_upper());
}

void PackingState::Snapshot::forget_inverse() {
    if (cover_basis) {
        cover_basis =
            std::make_shared<const CoverLp::BasisSnapshot>(CoverLp::BasisSnapshot{cover_basis->basis, {}, 0});
    }
}

void PackingState::save(Snapshot& snapshot) const {
    snapshot.statuses = statuses_;
    snapshot.residual = residual_;
    snapshot.sets = sets_;
    snapshot.given_up_cost = given_up_cost_;
    snapshot.given_up_of_class = given_up_of_class_;
    snapshot.packed_cost = packed_cost_;
    snapshot.proven_cost = proven_cost_;
    snapshot.cover_basis = cover_basis_;
    snapshot.decisions = decisions_;
    snapshot.solution = solver_.solution();
    snapshot.decided_solution = decided_.solution();
}

void PackingState::restore(const Snapshot& snapshot) {
    assert(snapshot.statuses.size() == samples_.count());
    statuses_ = snapshot.statuses;
    residual_ = snapshot.residual;
    sets_ = snapshot.sets;
    given_up_cost_ = snapshot.given_up_cost;
    given_up_of_class_ = snapshot.given_up_of_class;
    packed_cost_ = snapshot.packed_cost;
    proven_cost_ = snapshot.proven_cost;
    cover_basis_ = snapshot.cover_basis;
    cover_values_.clear();
    decisions_ = snapshot.decisions;
    const auto in_solver = [this](std::size_t i) {
        return statuses_[i] == SampleStatus::kept || (statuses_[i] == SampleStatus::free && has_cost_left(i));
    };
    const auto flipped = [this](std::size_t i) { return statuses_[i] == SampleStatus::given_up; };
    solver_.restore(snapshot.solution, in_solver, flipped);
    decided_.restore(
        snapshot.decided_solution, [this](std::size_t i) { return statuses_[i] == SampleStatus::kept; }, flipped);
}

}  // namespace hardmargin
