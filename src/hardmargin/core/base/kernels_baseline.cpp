#include "base/kernels_loops.h"

namespace hardmargin {

const Kernels baseline_kernels = loops;

}  // namespace hardmargin
