#include "text/number_table.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <unordered_map>

namespace hardmargin {

namespace {

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\v' || letter == '\f';
}

bool is_line_end(char letter) {
    return letter == '\n' || letter == '\r';
}

std::string_view stripped(std::string_view word) {
    while (!word.empty() && is_blank(word.front())) {
        word.remove_prefix(1);
    }
    while (!word.empty() && is_blank(word.back())) {
        word.remove_suffix(1);
    }
    return word;
}

// Walks over the cells of a text.
class Cells {
public:
    Cells(std::string_view text, char delimiter)
        : position_(text.data()), end_(text.data() + text.size()), delimiter_(delimiter) {}

    // Goes to the next row that is not blank; false at the end of the text.
    bool next_row() {
        while (position_ != end_) {
            const char* begin = position_;
            while (begin != end_ && *begin == ' ') {
                ++begin;
            }
            if (begin != end_ && !is_line_end(*begin)) {
                return true;
            }
            position_ = begin == end_ ? end_ : begin + 1;
        }
        return false;
    }

    // The next cell of the row, without its quotes; nothing if it is quoted in a way that is not simple.
    std::optional<std::string_view> next_cell() {
        while (position_ != end_ && *position_ == ' ') {
            ++position_;
        }
        if (position_ != end_ && *position_ == '"') {
            return quoted_cell();
        }
        const char* const begin = position_;
        while (position_ != end_ && *position_ != delimiter_ && !is_line_end(*position_)) {
            if (*position_ == '"') {
                return std::nullopt;
            }
            ++position_;
        }
        return std::string_view(begin, static_cast<std::size_t>(position_ - begin));
    }

    bool at_delimiter() const { return position_ != end_ && *position_ == delimiter_; }
    bool at_row_end() const { return position_ == end_ || is_line_end(*position_); }
    void skip_delimiter() { ++position_; }

private:
    std::optional<std::string_view> quoted_cell() {
        const char* const begin = ++position_;
        while (position_ != end_ && *position_ != '"') {
            if (is_line_end(*position_)) {
                return std::nullopt;
            }
            ++position_;
        }
        if (position_ == end_) {
            return std::nullopt;
        }
        const std::string_view word(begin, static_cast<std::size_t>(position_ - begin));
        ++position_;
        // A doubled quote, or something after the closing one.
        if (!at_delimiter() && !at_row_end()) {
            return std::nullopt;
        }
        return word;
    }

    const char* position_;
    const char* end_;
    char delimiter_;
};

// Numbers the different labels.
class LabelNumbers {
public:
    explicit LabelNumbers(std::vector<std::string_view>& words) : words_(words) {}

    std::int32_t number(std::string_view word) {
        // Most rows have the label of the row before.
        if (!words_.empty() && words_[static_cast<std::size_t>(last_)] == word) {
            return last_;
        }
        const auto [place, is_new] = numbers_.try_emplace(word, static_cast<std::int32_t>(words_.size()));
        if (is_new) {
            words_.push_back(word);
        }
        last_ = place->second;
        return last_;
    }

private:
    std::vector<std::string_view>& words_;
    std::unordered_map<std::string_view, std::int32_t> numbers_;
    std::int32_t last_ = 0;
};

}  // namespace

std::optional<double> plain_number(std::string_view word) {
#ifdef __cpp_lib_to_chars
    word = stripped(word);
    if (word.starts_with('+')) {
        word.remove_prefix(1);
        if (word.starts_with('-')) {
            return std::nullopt;
        }
    }
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [reached, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || reached != end || !std::isfinite(value)) {
        return std::nullopt;
    }
    return value;
#else
    static_cast<void>(word);
    return std::nullopt;
#endif
}

std::optional<NumberTable> number_table(std::string_view text, char delimiter, std::span<const ColumnRole> roles,
                                        bool skip_first, const TableLimits& limits) {
    NumberTable table;
    LabelNumbers labels(table.words);
    const auto width = static_cast<std::size_t>(std::ranges::count_if(roles, [](ColumnRole r) { return r >= 0; }));
    constexpr auto most_rows = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
    // There are at most as many rows as line ends, and one more.
    const auto ends =
        static_cast<std::size_t>(std::ranges::count(text, text.find('\n') == text.npos ? '\r' : '\n'));
    table.values.reserve(std::min((ends + 1) * width, limits.values));
    Cells cells(text, delimiter);
    bool skip = skip_first;
    while (cells.next_row()) {
        const std::size_t begin = table.values.size();
        if (!skip) {
            if (begin + width > limits.values || table.rows == most_rows) {
                return std::nullopt;
            }
            table.values.resize(begin + width);
        }
        for (std::size_t column = 0; column < roles.size(); ++column) {
            if (column > 0) {
                if (!cells.at_delimiter()) {
                    return std::nullopt;
                }
                cells.skip_delimiter();
            }
            const std::optional<std::string_view> word = cells.next_cell();
            if (!word || word->size() > limits.cell) {
                return std::nullopt;
            }
            const ColumnRole role = roles[column];
            if (skip || role == ignored_column) {
                continue;
            }
            if (role == label_column) {
                table.labels.push_back(labels.number(*word));
                continue;
            }
            const std::optional<double> value = plain_number(*word);
            if (!value) {
                return std::nullopt;
            }
            assert(static_cast<std::size_t>(role) < width);
            table.values[begin + static_cast<std::size_t>(role)] = *value;
        }
        if (!cells.at_row_end()) {
            return std::nullopt;
        }
        table.rows += skip ? 0 : 1;
        skip = false;
    }
    return table;
}

}  // namespace hardmargin
