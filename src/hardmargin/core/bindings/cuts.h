// Binds what the integer programming methods need, cuts and the hinge loss, to Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hardmargin {

void bind_cuts(nanobind::module_& module);

}  // namespace hardmargin
