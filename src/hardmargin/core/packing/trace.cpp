#include "packing/trace.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace hardmargin {

namespace {

constexpr std::size_t not_in_pool = std::numeric_limits<std::size_t>::max();
// Weights of sets with samples that may be given up have this many bits at most, and others this many. They are
// reduced by a share that covers the rounding of all sums of costs.
constexpr int weight_bits = 50;
constexpr int most_weight_bits = 61;
constexpr double weight_rounding = 4e-12;
// Numbers of a record have 63 bits. A weight this large is far more than what the record proves.
constexpr double largest_weight = 0x1p62;

}  // namespace

PackingTrace::PackingTrace(const Samples& samples) : samples_(samples), equal_costs_(samples.common_cost() > 0) {
    double largest = 0;
    double largest_uncertain = 0;
    for (std::size_t i = 0; i < samples.count(); ++i) {
        largest = std::max(largest, samples.cost(i));
        largest_uncertain = std::max(largest_uncertain, samples.certain(i) ? 0.0 : samples.cost(i));
    }
    unit_exponent_ = largest > 0 ? std::ilogb(largest) - most_weight_bits : 0;
    if (largest_uncertain > 0) {
        unit_exponent_ = std::max(unit_exponent_, std::ilogb(largest_uncertain) - weight_bits);
    }
}

void PackingTrace::expect(double most) {
    if (most > 0 && std::isfinite(most)) {
        unit_exponent_ = std::min(unit_exponent_, std::ilogb(most) - weight_bits);
    }
}

void PackingTrace::begin(const PackingNode& node) {
    record_.clear();
    sets_ = 0;
    packed_.clear();
    number_in_record_.clear();
    index_in_pool_.clear();
    record_.number(node.proof);
    write_unit(record_);
    record_.ascending(node.kept);
    record_.ascending(node.given_up);
}

void PackingTrace::write_unit(ProofRecord& record) const {
    // Zigzag: the sign is the lowest bit.
    record.number(unit_exponent_ < 0 ? 2 * static_cast<std::uint64_t>(-unit_exponent_) - 1
                                     : 2 * static_cast<std::uint64_t>(unit_exponent_));
}

void PackingTrace::write(std::span<const Multiplier> certificate, ProofRecord& record) const {
    const std::vector<WholeMultiplier> whole = whole_multipliers(samples_, certificate);
    const RowNumbers rows(samples_.count());
    record.number(whole.size());
    for (const WholeMultiplier& multiplier : whole) {
        const std::size_t row = multiplier.row;
        record.number(rows.is_extra(row) ? row : 2 * rows.sample(row) + (rows.keeps(row) ? 0 : 1));
        record.number(static_cast<std::uint64_t>(multiplier.value));
    }
}

std::uint64_t PackingTrace::weight(double share) const {
    const double units = std::ldexp(share * (1 - weight_rounding), -unit_exponent_);
    return static_cast<std::uint64_t>(std::floor(std::min(units, largest_weight)));
}

void PackingTrace::pack(std::span<const Packed> packed) {
    std::erase_if(packed_, [&](const Packed& known) {
        const bool gone = std::find(packed.begin(), packed.end(), known) == packed.end();
        if (gone) {
            record_.step(ProofStep::unpack);
            record_.number(known.set);
        }
        return gone;
    });
    for (const Packed& set : packed) {
        if (std::find(packed_.begin(), packed_.end(), set) == packed_.end()) {
            record_.step(ProofStep::pack);
            record_.number(set.set);
            // Zero means as much as its samples have left.
            record_.number(equal_costs_ ? 0 : weight(set.share) + 1);
            packed_.push_back(set);
        }
    }
}

PackingTrace::SetNumber PackingTrace::add(std::span<const Multiplier> certificate) {
    record_.step(ProofStep::set);
    write(certificate, record_);
    index_in_pool_.push_back(not_in_pool);
    return sets_++;
}

PackingTrace::SetNumber PackingTrace::add(std::size_t pool_index, std::span<const Multiplier> certificate) {
    if (pool_index >= number_in_record_.size()) {
        number_in_record_.resize(pool_index + 1);
    }
    SetNumber& number = number_in_record_[pool_index];
    if (number >= sets_ || index_in_pool_[number] != pool_index) {
        number = add(certificate);
        index_in_pool_[number] = pool_index;
    }
    return number;
}

void PackingTrace::unit(SetNumber set) {
    record_.step(ProofStep::unit);
    record_.number(set);
}

void PackingTrace::close(SetNumber set) {
    record_.step(ProofStep::close_set);
    record_.number(set);
}

void PackingTrace::cover(std::span<const Packed> weights) {
    record_.step(ProofStep::cover);
    record_.number(weights.size());
    for (const Packed& set : weights) {
        record_.number(set.set);
        record_.number(weight(set.share));
    }
}

void PackingTrace::norm(std::span<const Multiplier> certificate) {
    record_.step(ProofStep::norm);
    write(certificate, record_);
}

void PackingTrace::keep_dear(std::size_t sample) {
    record_.step(ProofStep::dear);
    record_.number(sample);
}

void PackingTrace::branch(std::size_t sample) {
    record_.step(ProofStep::branch);
    record_.number(sample);
}

void PackingTrace::open(std::uint64_t number) {
    record_.step(ProofStep::open);
    record_.number(number);
}

void PackingTrace::return_to(const Mark& mark) {
    assert(mark.sets <= sets_);
    sets_ = mark.sets;
    packed_ = mark.packed;
    index_in_pool_.resize(sets_);
}

void PackingTrace::forget(std::size_t size, const Mark& mark) {
    record_.shorten(size);
    return_to(mark);
}

}  // namespace hardmargin
