// Arrays that begin at a cache line, so that the vectors of the loops in base/kernels.h do not cross one. Without
// this, large arrays begin 16 bytes after one, because of how malloc works.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hardmargin {

inline constexpr std::size_t cache_line = 64;

template <typename Value>
struct CacheLineAllocator {
    using value_type = Value;

    CacheLineAllocator() = default;
    template <typename Other>
    CacheLineAllocator(const CacheLineAllocator<Other>&) noexcept {}

    Value* allocate(std::size_t count) {
        return static_cast<Value*>(::operator new(count * sizeof(Value), std::align_val_t{cache_line}));
    }
    void deallocate(Value* values, std::size_t) { ::operator delete(values, std::align_val_t{cache_line}); }

    template <typename Other>
    bool operator==(const CacheLineAllocator<Other>&) const {
        return true;
    }
};

template <typename Value>
using AlignedVector = std::vector<Value, CacheLineAllocator<Value>>;

}  // namespace hardmargin
