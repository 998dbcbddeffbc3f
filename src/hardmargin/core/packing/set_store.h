// Certified sets that outlive a search, and that its threads share.
//
// What a set claims does not depend on the search that found it (packing/set_pool.h), so the next search for a
// higher target begins with the sets of the last one. Every thread works with a pool of its own, and gives and
// takes when it begins and ends a slice: it gives what it has found or used since, and takes what others have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "packing/set_pool.h"

namespace hardmargin {

class SetStore {
public:
    // How far a thread is up to date.
    struct Visit {
        std::uint64_t given = 0;  // uses of its own pool that the store knows of
        std::uint64_t taken = 0;  // uses of the store that it knows of
    };

    explicit SetStore(std::size_t sample_count) : pool_(sample_count) {}

    // Brings the pool and the store up to date with each other; the store forgets what was used longest ago when it
    // needs more memory than this.
    void exchange(SetPool& pool, Visit& visit, std::size_t largest_memory);

    std::size_t size() const;

private:
    mutable std::mutex mutex_;
    SetPool pool_;
};

}  // namespace hardmargin
