#include "set_pool.h"

#include <algorithm>
#include <utility>

namespace hardmargin {

namespace {

std::size_t size_in_memory(const SetPool::CertifiedSet& set) {
    constexpr std::size_t index_entry = 48;
    return sizeof(set) + index_entry + sizeof(std::uint32_t) * (set.samples.capacity() + set.flips.capacity());
}

}  // namespace

std::uint64_t SetPool::hash(const CertifiedSet& set) {
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    const auto mix = [&](std::uint64_t value) {
        state = (state ^ value) * 0xbf58476d1ce4e5b9u;
        state ^= state >> 29;
    };
    for (const std::uint32_t sample : set.samples) {
        mix(2 * static_cast<std::uint64_t>(sample));
    }
    for (const std::uint32_t sample : set.flips) {
        mix(2 * static_cast<std::uint64_t>(sample) + 1);
    }
    return state;
}

std::size_t SetPool::add(std::span<const Multiplier> certificate, double value) {
    CertifiedSet set;
    set.value = value;
    for (const Multiplier& multiplier : certificate) {
        if (multiplier.row < sample_count_) {
            set.samples.push_back(static_cast<std::uint32_t>(multiplier.row));
        } else {
            set.flips.push_back(static_cast<std::uint32_t>(multiplier.row - sample_count_));
        }
    }
    std::sort(set.samples.begin(), set.samples.end());
    std::sort(set.flips.begin(), set.flips.end());
    const auto [entry, is_new] = index_of_hash_.try_emplace(hash(set), sets_.size());
    const std::size_t index = entry->second;
    if (!is_new && sets_[index].samples == set.samples && sets_[index].flips == set.flips) {
        sets_[index].value = std::max(sets_[index].value, value);
        return index;
    }
    entry->second = sets_.size();
    set.last_use = ++uses_;
    memory_ += size_in_memory(set);
    sets_.push_back(std::move(set));
    return sets_.size() - 1;
}

void SetPool::trim(std::size_t count) {
    if (sets_.size() <= count) {
        return;
    }
    if (count == 0) {
        sets_.clear();
        index_of_hash_.clear();
        memory_ = 0;
        return;
    }
    std::vector<std::uint64_t> uses;
    for (const CertifiedSet& set : sets_) {
        uses.push_back(set.last_use);
    }
    std::nth_element(uses.begin(), uses.end() - static_cast<std::ptrdiff_t>(count), uses.end());
    const std::uint64_t oldest_kept = uses[uses.size() - count];
    std::erase_if(sets_, [&](const CertifiedSet& set) { return set.last_use < oldest_kept; });
    index_of_hash_.clear();
    memory_ = 0;
    for (std::size_t index = 0; index < sets_.size(); ++index) {
        index_of_hash_[hash(sets_[index])] = index;
        memory_ += size_in_memory(sets_[index]);
    }
}

}  // namespace hardmargin
