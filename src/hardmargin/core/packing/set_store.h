// Certified sets that outlive a search, and that threads share.
//
// A set is valid independently of the search that found it (packing/set_pool.h), so the search for the next target
// starts with the sets of the last one. Every thread has a pool of its own and exchanges sets with the store at the
// beginning and the end of a slice: it gives what it has found or used since, and takes what others have given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "packing/set_pool.h"

namespace hardmargin {

class SetStore {
public:
    // The state of a thread at its last exchange.
    struct Visit {
        std::uint64_t given = 0;  // uses of its own pool
        std::uint64_t taken = 0;  // uses of the store
    };

    explicit SetStore(std::size_t sample_count, bool keeps_certificates = false)
        : pool_(sample_count, keeps_certificates) {}

    // Exchanges new and used sets between the pool and the store. If the store exceeds the memory, it drops the
    // least recently used sets.
    void exchange(SetPool& pool, Visit& visit, std::size_t largest_memory);

    std::size_t size() const;

private:
    mutable std::mutex mutex_;
    SetPool pool_;
};

}  // namespace hardmargin
