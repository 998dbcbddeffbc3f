// Where Python meets what the methods on integer programming solvers need: cuts and the hinge loss.
#pragma once

#include <nanobind/nanobind.h>

namespace hardmargin {

void bind_cuts(nanobind::module_& module);

}  // namespace hardmargin
