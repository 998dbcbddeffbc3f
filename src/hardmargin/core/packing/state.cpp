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
// A packing is changed for a gain of at least this much of a sample.
constexpr double least_gain = 0.01;
// The relative error of sums of few costs is below this.
constexpr double least_rounding_share = 1e-12;
// A repacked packing counts as equally good if it loses no more than this share.
constexpr double repacking_rounding = 1e-9;
// Thresholds of the solver must be positive.
constexpr double least_threshold = 1e-300;
constexpr int most_failures = 1;

}  // namespace

PackingState::PackingState(const Samples& samples, const PackingOptions& options, ImproveFunction improve)
    : samples_(samples),
      rounding_share_(sum_rounding(samples.count(), least_rounding_share)),
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

double PackingState::room() const {
    const double rounding = rounding_share_ * options_.objective.room(upper_, 0);
    const double by_cost = cutoff().room(known_cost()) + rounding + rounding_share_ * options_.budget.credit();
    return std::min(by_cost, options_.objective.room(effective_upper(), priced_cost()) + rounding);
}

double PackingState::priced_cost() const {
    double cost = 0;
    for (const bool positive : {false, true}) {
        cost += options_.budget.limits(positive) ? 0.0 : given_up_of_class_[positive];
    }
    return cost;
}

double PackingState::known_cost_of_class(bool positive) const {
    double cost = given_up_of_class_[positive];
    for (const PackedSet& set : sets_) {
        const bool is_of_class = std::all_of(set.members.begin(), set.members.end(), [&](const Member& member) {
            return (samples_.label(member.sample) > 0) == positive;
        });
        cost += is_of_class ? set.share : 0.0;
    }
    return cost;
}

bool PackingState::exceeds_budget() const {
    const Budget& budget = options_.budget;
    if (budget.limits_all() && safely_below(known_cost()) > budget.credit()) {
        return true;
    }
    for (const bool positive : {false, true}) {
        if (budget.of_class(positive) < Budget::unlimited &&
            safely_below(known_cost_of_class(positive)) > budget.of_class(positive)) {
            return true;
        }
    }
    return false;
}

bool PackingState::is_too_dear(double cost, double norm) const {
    return norm >= cutoff().room(safely_below(cost)) ||
           (options_.budget.limits_all() && safely_below(cost) > options_.budget.credit());
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
        if (is_free(i) && !fits && keep(i) == Verdict::closed) {
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

PackingState::Found PackingState::shrink() {
    Found result = Found::nothing;
    for (std::size_t index = 0; index < sets_.size() && !stop_(); ++index) {
        PackedSet& set = sets_[index];
        if (set.shrunk_decisions == decisions_ + 1 && set.shrunk_room <= room()) {
            continue;
        }
        set.shrunk_decisions = decisions_ + 1;
        set.shrunk_room = room();
        const Found found = shrink_set(index);
        if (found == Found::closed) {
            return found;
        }
        if (found == Found::something) {
            result = found;
        }
    }
    settle_single_sets();
    return result;
}

PackingState::Found PackingState::shrink_set(std::size_t index) {
    if (is_used_up()) {
        write_closed_by_cost();
        return Found::closed;
    }
    const std::vector<Member> members = sets_[index].members;
    if (!certify_alone(members)) {
        return Found::nothing;
    }
    if (learns()) {
        cover_.learn(decided_);
    }
    collect_free_members(decided_, found_);
    if (found_.size() >= members.size()) {
        return Found::nothing;
    }
    const PackingTrace::SetNumber number = write(decided_);
    if (found_.empty()) {
        if (trace_) {
            trace_->close(number);
        }
        return Found::closed;
    }
    for (const Member& member : members) {
        const bool left = std::none_of(found_.begin(), found_.end(),
                                       [&](const Member& other) { return other.sample == member.sample; });
        if (left) {
            adjust_residual(member.sample, sets_[index].share);
        }
    }
    sets_[index].members = found_;
    sets_[index].number = number;
    return Found::something;
}

PackingState::Found PackingState::repack() {
    for (std::size_t index = 0; index < sets_.size() && !stop_(); ++index) {
        const Found found = repack_set(index);
        if (found != Found::nothing) {
            return found;
        }
    }
    return Found::nothing;
}

PackingState::Found PackingState::repack_set(std::size_t index) {
    const double packed_before = packed_cost_;
    const double room_before = room();
    const std::size_t size_before = sets_[index].members.size();
    save(before_repack_);
    if (trace_) {
        // What is found below may rely on the room that counts all sets.
        write_packing();
    }
    const std::size_t written_before = trace_ ? trace_->record().size() : 0;
    const PackingTrace::Mark mark = trace_ ? trace_->mark() : PackingTrace::Mark{};
    const auto undo = [&] {
        restore(before_repack_);
        if (trace_) {
            trace_->forget(written_before, mark);
        }
    };
    dissolve(index);
    std::size_t first_size = 0;
    for (;;) {
        const double limit = std::min(room(), room_before);
        if (limit <= 0 || exceeds_budget()) {
            write_closed_by_cost();
            return Found::closed;
        }
        const MaxMarginStatus status = solver_.solve(limit);
        if (status == MaxMarginStatus::failed) {
            undo();
            return Found::nothing;
        }
        if (status == MaxMarginStatus::optimal) {
            break;
        }
        collect_free_members(solver_, found_);
        const PackingTrace::SetNumber number = write(solver_);
        if (found_.empty()) {
            if (trace_) {
                trace_->close(number);
            }
            return Found::closed;
        }
        if (found_.size() == 1) {
            const std::size_t sample = found_[0].sample;
            if (trace_) {
                trace_->unit(number);
            }
            restore(before_repack_);
            give_up(sample);
            return Found::something;
        }
        if (learns()) {
            cover_.learn(solver_);
        }
        if (first_size == 0) {
            first_size = found_.size();
        }
        pack(found_, number);
    }
    if (packed_cost_ > packed_before + least_gain * typical_cost_) {
        return Found::something;
    }
    // A smaller set of the same value is kept, although it does not raise the bound.
    const bool smaller =
        packed_cost_ >= packed_before * (1 - repacking_rounding) && first_size > 0 && first_size < size_before;
    if (!smaller) {
        undo();
    }
    return Found::nothing;
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
