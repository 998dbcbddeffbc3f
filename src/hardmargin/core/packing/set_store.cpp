#include "packing/set_store.h"

#include <algorithm>

namespace hardmargin {

namespace {

// The store is trimmed to the first number of sets when it exceeds the second.
constexpr std::size_t trimmed_count = 25'000;
constexpr std::size_t largest_count = trimmed_count + trimmed_count / 4;

}  // namespace

void SetStore::exchange(SetPool& pool, Visit& visit, std::size_t largest_memory) {
    const std::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < pool.size(); ++index) {
        if (pool.last_use(index) > visit.given) {
            pool_.note_use(pool_.add(pool, index));
        }
    }
    // Only recently used sets are worth the time they take in a pool.
    if (pool_.size() > largest_count || pool_.memory() > largest_memory) {
        pool_.trim(std::min(trimmed_count, pool_.size() / 2));
    }
    for (std::size_t index = 0; index < pool_.size(); ++index) {
        if (pool_.last_use(index) > visit.taken) {
            pool.add(pool_, index);
        }
    }
    visit = {pool.uses(), pool_.uses()};
}

std::size_t SetStore::size() const {
    const std::lock_guard lock(mutex_);
    return pool_.size();
}

}  // namespace hardmargin
