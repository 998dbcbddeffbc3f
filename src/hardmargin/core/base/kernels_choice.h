// Chooses the table of kernels when the library is loaded: the best one that this CPU can run, or the one that the
// environment variable HARDMARGIN_KERNELS names ("baseline", "avx2" or "avx512").
#pragma once

#include <array>
#include <string>

#include "base/kernels.h"

namespace hardmargin {

struct NamedKernels {
    const char* name;
    const Kernels* table;
    bool usable;  // whether this CPU can run it
};

// All tables, from the slowest to the fastest.
std::array<NamedKernels, 3> all_kernels();
// The name of the table in use.
const char* kernels_name();
// The error if HARDMARGIN_KERNELS does not name a usable table, in which case the baseline is used; empty if none.
std::string kernels_error();

}  // namespace hardmargin
