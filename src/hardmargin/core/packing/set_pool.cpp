#include "packing/set_pool.h"

#include <bit>
#include <cassert>
#include <utility>

namespace hardmargin {

namespace {

// Bytes that the index by hashes needs for a set, approximately.
constexpr std::size_t memory_of_index = 48;

}  // namespace

std::size_t SetPool::memory() const {
    return size() * (sizeof(Entry) + memory_of_index + 2 * words_ * sizeof(std::uint64_t)) +
           multipliers_ * sizeof(Multiplier);
}

std::vector<std::uint32_t> SetPool::listed(std::span<const std::uint64_t> bits) const {
    std::vector<std::uint32_t> samples;
    for (std::size_t k = 0; k < bits.size(); ++k) {
        for (std::uint64_t word = bits[k]; word != 0; word &= word - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(word));
            samples.push_back(static_cast<std::uint32_t>(k * word_bits + bit));
        }
    }
    return samples;
}

std::uint64_t SetPool::hash(std::size_t index) const {
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    const std::uint64_t* const begin = bits_.data() + 2 * words_ * index;
    for (std::size_t k = 0; k < 2 * words_; ++k) {
        state = (state ^ begin[k]) * 0xbf58476d1ce4e5b9u;
        state ^= state >> 29;
    }
    return state;
}

std::size_t SetPool::add(std::span<const Multiplier> certificate, double value) {
    const std::size_t begin = bits_.size();
    bits_.resize(begin + 2 * words_);
    for (const Multiplier& multiplier : certificate) {
        if (rows_.is_extra(multiplier.row)) {
            continue;
        }
        const std::size_t sample = rows_.sample(multiplier.row);
        set_bit(&bits_[begin + (rows_.keeps(multiplier.row) ? 0 : words_)], sample);
    }
    return add_appended(certificate, value);
}

std::size_t SetPool::add(const SetPool& other, std::size_t index) {
    assert(other.sample_count_ == sample_count_);
    assert(&other != this && index < other.size());
    const std::uint64_t* const begin = other.bits_.data() + 2 * words_ * index;
    bits_.insert(bits_.end(), begin, begin + 2 * words_);
    return add_appended(keeps_certificates_ ? other.certificate(index) : std::span<const Multiplier>{},
                        other.value(index));
}

void SetPool::raise(std::size_t index, std::span<const Multiplier> certificate, double value) {
    if (!(value > entries_[index].value)) {
        return;
    }
    entries_[index].value = value;
    if (keeps_certificates_) {
        multipliers_ += certificate.size() - certificates_[index].size();
        certificates_[index].assign(certificate.begin(), certificate.end());
    }
}

std::size_t SetPool::add_appended(std::span<const Multiplier> certificate, double value) {
    const std::size_t appended = size();
    const auto [entry, is_new] = index_of_hash_.try_emplace(hash(appended), appended);
    const std::size_t known = entry->second;
    const auto begin = [this](std::size_t index) {
        return bits_.begin() + static_cast<std::ptrdiff_t>(2 * words_ * index);
    };
    if (!is_new && std::equal(begin(known), begin(known + 1), begin(appended))) {
        bits_.resize(2 * words_ * appended);
        raise(known, certificate, value);
        return known;
    }
    entry->second = appended;
    entries_.push_back({value, ++uses_});
    if (keeps_certificates_) {
        certificates_.emplace_back(certificate.begin(), certificate.end());
        multipliers_ += certificate.size();
    }
    return appended;
}

void SetPool::trim(std::size_t count) {
    if (size() <= count) {
        return;
    }
    std::uint64_t oldest_kept = uses_ + 1;
    if (count > 0) {
        std::vector<std::uint64_t> uses;
        for (const Entry& entry : entries_) {
            uses.push_back(entry.last_use);
        }
        const auto place = uses.end() - static_cast<std::ptrdiff_t>(count);
        std::nth_element(uses.begin(), place, uses.end());
        oldest_kept = *place;
    }
    std::size_t kept = 0;
    index_of_hash_.clear();
    for (std::size_t index = 0; index < size(); ++index) {
        if (entries_[index].last_use >= oldest_kept) {
            entries_[kept] = entries_[index];
            if (keeps_certificates_ && kept != index) {
                certificates_[kept] = std::move(certificates_[index]);
            }
            std::copy_n(bits_.begin() + static_cast<std::ptrdiff_t>(2 * words_ * index), 2 * words_,
                        bits_.begin() + static_cast<std::ptrdiff_t>(2 * words_ * kept));
            index_of_hash_[hash(kept)] = kept;
            ++kept;
        }
    }
    entries_.resize(kept);
    if (keeps_certificates_) {
        certificates_.resize(kept);
        multipliers_ = 0;
        for (const std::vector<Multiplier>& certificate : certificates_) {
            multipliers_ += certificate.size();
        }
    }
    bits_.resize(2 * words_ * kept);
}

}  // namespace hardmargin
