// Which table of kernels serves: the best one that this CPU can run, or the one that the environment variable
// HARDMARGIN_KERNELS names ("baseline", "avx2" or "avx512") when the library is loaded.
#pragma once

#include <array>
#include <string>

#include "base/kernels.h"

namespace hardmargin {

struct NamedKernels {
    const char* name;
    const Kernels* table;
    bool usable;  // whether this CPU has what the table needs
};

// All tables, each better than the ones before it.
std::array<NamedKernels, 3> all_kernels();
// The name of the table that serves.
const char* kernels_name();
// What is wrong with HARDMARGIN_KERNELS if it names no usable table, so that the baseline serves; empty: nothing.
std::string kernels_error();

}  // namespace hardmargin
