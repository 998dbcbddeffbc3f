// Reads a table of numbers from text, quickly and by strict rules.
//
// This is the fast half of the CSV reader. It accepts only what is beyond doubt: plain decimal numbers, cells
// quoted as a whole, rows of equal length. Whatever else there is, it refuses the whole table without giving a
// reason; the slow half, in Python, then reads the table again and either accepts it or says what is wrong and
// where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hardmargin {

// What to do with a column: its number in the rows of the result, or one of these.
using ColumnRole = std::int64_t;
constexpr ColumnRole ignored_column = -1;
constexpr ColumnRole label_column = -2;

struct NumberTable {
    // Row by row.
    std::vector<double> values;
    std::size_t rows = 0;
    // Of every row, the number of its label among `words`; empty if no column holds labels.
    std::vector<std::int32_t> labels;
    // The different labels, as they stand in the text, in the order of their first appearance.
    std::vector<std::string_view> words;
};

// The limits of the slow reader, which the fast one must not exceed.
struct TableLimits {
    std::size_t values;
    // Bytes of one cell.
    std::size_t cell;
};

// Rows end at \n, \r or both; blank ones are skipped, and so is the first other one if `skip_first`. The roles of
// the columns are in `roles`; the features have the numbers 0 to k - 1, each once. Words refer to `text`.
std::optional<NumberTable> number_table(std::string_view text, char delimiter, std::span<const ColumnRole> roles,
                                        bool skip_first, const TableLimits& limits);

// The number that a word contains, blanks around it included; nothing if it is not a finite number in plain decimal
// notation, or if this compiler's library cannot tell.
std::optional<double> plain_number(std::string_view word);

}  // namespace hardmargin
