#include "kernels.h"

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

}  // namespace

const Kernels& kernels = has_avx2() ? avx2_kernels : baseline_kernels;

}  // namespace hardmargin
