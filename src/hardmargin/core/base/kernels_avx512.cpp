// Compiled with AVX-512 switched on where the target is x86-64; elsewhere the same as the baseline.
#include "base/kernels_loops.h"

namespace hardmargin {

const Kernels avx512_kernels = loops;

}  // namespace hardmargin
