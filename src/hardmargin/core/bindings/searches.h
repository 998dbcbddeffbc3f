// Binds the exact searches to Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hardmargin {

void bind_searches(nanobind::module_& module);

}  // namespace hardmargin
