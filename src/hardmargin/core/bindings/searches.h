// Where Python meets the exact searches.
#pragma once

#include <nanobind/nanobind.h>

namespace hardmargin {

void bind_searches(nanobind::module_& module);

}  // namespace hardmargin
