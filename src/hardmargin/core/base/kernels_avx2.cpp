// Compiled with AVX2 and FMA switched on where the target is x86-64; elsewhere the same as the baseline.
#include "base/kernels_loops.h"

namespace hardmargin {

const Kernels avx2_kernels = loops;

}  // namespace hardmargin
