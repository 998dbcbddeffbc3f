#include "base/kernels_choice.h"

#include <cstdlib>
#include <string_view>

namespace hardmargin {

namespace {

bool has_avx2() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

const char* wanted_name() {
    const char* name = std::getenv("HARDMARGIN_KERNELS");
    return name != nullptr && *name != '\0' ? name : nullptr;
}

NamedKernels choose() {
    const std::array<NamedKernels, 3> tables = all_kernels();
    const char* wanted = wanted_name();
    NamedKernels chosen = tables[0];
    for (const NamedKernels& table : tables) {
        if (table.usable && (wanted == nullptr || std::string_view(wanted) == table.name)) {
            chosen = table;
        }
    }
    return chosen;
}

const NamedKernels chosen_kernels = choose();

}  // namespace

const Kernels& kernels = *chosen_kernels.table;

std::array<NamedKernels, 3> all_kernels() {
    return {{{"baseline", &baseline_kernels, true},
             {"avx2", &avx2_kernels, has_avx2()},
             {"avx512", &avx512_kernels, has_avx512()}}};
}

const char* kernels_name() {
    return chosen_kernels.name;
}

std::string kernels_error() {
    const char* wanted = wanted_name();
    if (wanted == nullptr || std::string_view(wanted) == kernels_name()) {
        return {};
    }
    std::string usable;
    for (const NamedKernels& table : all_kernels()) {
        if (table.usable) {
            usable += usable.empty() ? table.name : std::string(", ") + table.name;
        }
    }
    return std::string("HARDMARGIN_KERNELS is '") + wanted + "'; expected one of those that this CPU has (" +
           usable + "), or no such variable for the best of them";
}

}  // namespace hardmargin
