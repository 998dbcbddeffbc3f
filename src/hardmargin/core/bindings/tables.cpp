#include "bindings/tables.h"

#include <nanobind/stl/vector.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/shared.h"
#include "text/number_table.h"

namespace hardmargin {

namespace {

// The UTF-8 form of a string, which lives as long as the string does.
std::string_view utf8(const nb::str& text) {
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) {
        throw nb::python_error();
    }
    return {data, static_cast<std::size_t>(size)};
}

// Every feature needs a number of its own, or values would be left out.
void check_roles(const std::vector<ColumnRole>& roles) {
    std::vector<bool> seen(roles.size());
    std::size_t features = 0;
    for (const ColumnRole role : roles) {
        if (role < 0) {
            continue;
        }
        const auto feature = static_cast<std::size_t>(role);
        if (feature >= roles.size() || seen[feature]) {
            throw nb::value_error("read_table: expected features numbered from 0, each once");
        }
        seen[feature] = true;
        ++features;
    }
    for (std::size_t feature = 0; feature < features; ++feature) {
        if (!seen[feature]) {
            throw nb::value_error("read_table: expected features numbered from 0, each once");
        }
    }
}

nb::object read_table(const nb::str& text, char delimiter, const std::vector<ColumnRole>& roles, bool skip_first,
                      std::size_t most_values, std::size_t longest_cell) {
    check_roles(roles);
    const std::string_view content = utf8(text);
    std::optional<NumberTable> table;
    {
        const nb::gil_scoped_release unlocked;
        table = number_table(content, delimiter, roles, skip_first, {most_values, longest_cell});
    }
    if (!table) {
        return nb::none();
    }
    nb::list words;
    for (const std::string_view word : table->words) {
        words.append(nb::str(word.data(), word.size()));
    }
    const std::size_t rows = table->rows;
    const std::size_t labels = table->labels.size();
    const std::size_t width = rows == 0 ? 0 : table->values.size() / rows;
    return nb::make_tuple(array(std::move(table->values), {rows, width}), array(std::move(table->labels), {labels}),
                          words);
}

}  // namespace

void bind_tables(nb::module_& module) {
    module.def(
        "read_table", &read_table, "text"_a, "delimiter"_a, "roles"_a, "skip_first"_a, "most_values"_a,
        "longest_cell"_a,
        "The numbers of a table, the number of every row's label, and the labels; None if it is not simple.\n\n"
        "A role is the number of a feature, -1 for a column to ignore, or -2 for the labels.");
}

}  // namespace hardmargin
