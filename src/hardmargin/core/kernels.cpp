#include "kernels.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
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

std::string_view wanted_kernels() {
    const char* name = std::getenv("HARDMARGIN_KERNELS");
    return name == nullptr ? "" : name;
}

const Kernels& chosen_kernels() {
    return has_avx2() && wanted_kernels() != "baseline" ? avx2_kernels : baseline_kernels;
}

}  // namespace

const Kernels& kernels = chosen_kernels();

std::string kernels_name() {
    return &kernels == &avx2_kernels ? "avx2" : "baseline";
}

void check_wanted_kernels() {
    const std::string wanted(wanted_kernels());
    if (!wanted.empty() && wanted != "baseline" && wanted != "avx2") {
        throw std::invalid_argument("the environment variable HARDMARGIN_KERNELS is '" + wanted +
                                    "'; expected baseline or avx2, or unset it for the best that this CPU has");
    }
}

}  // namespace hardmargin
