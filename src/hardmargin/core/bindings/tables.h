// Binds the reader of tables to Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hardmargin {

void bind_tables(nanobind::module_& module);

}  // namespace hardmargin
