#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"
#include "text/number_table.h"

using namespace hardmargin;

namespace {

constexpr TableLimits no_limits{1'000'000, 1'000'000};
const std::vector<ColumnRole> feature_feature_label{0, 1, label_column};

std::optional<NumberTable> read(std::string_view text, const std::vector<ColumnRole>& roles = feature_feature_label,
                                bool skip_first = false, const TableLimits& limits = no_limits) {
    return number_table(text, ',', roles, skip_first, limits);
}

// Whether this compiler's library reads numbers at all.
bool reads_numbers() {
    return plain_number("1").has_value();
}

}  // namespace

TEST(numbers_are_read_exactly_or_not_at_all) {
    if (!reads_numbers()) {
        return;
    }
    CHECK(plain_number("0.1") == 0.1);
    CHECK(plain_number(" -12.5e-3\t") == -12.5e-3);
    CHECK(plain_number("+.5") == 0.5);
    CHECK(plain_number("5.") == 5.0);
    CHECK(plain_number("9007199254740993") == 9007199254740992.0);
    CHECK(plain_number("1.7976931348623157e308") == std::numeric_limits<double>::max());
    for (const char* const word : {"", " ", "+", "-", "+-1", "-+1", "1e", "1 2", "1_0", "0x10", "inf", "nan", "one",
                                   "1e999", "\xc2\xa0", "1,5"}) {
        CHECK(!plain_number(word));
    }
}

TEST(rows_end_in_any_way_and_blank_ones_are_skipped) {
    if (!reads_numbers()) {
        return;
    }
    for (const char* const text :
         {"1,2,a\n3,4,b\n", "\n1,2,a\r\n  \r\n3,4,b", "1,2,a\r3,4,b\r", " 1, 2,a\n\n3 ,4,b"}) {
        const std::optional<NumberTable> table = read(text);
        CHECK(table.has_value());
        if (table) {
            CHECK(table->rows == 2);
            CHECK((table->values == std::vector<double>{1, 2, 3, 4}));
            CHECK((table->labels == std::vector<std::int32_t>{0, 1}));
            CHECK((table->words == std::vector<std::string_view>{"a", "b"}));
        }
    }
}

TEST(columns_have_roles) {
    if (!reads_numbers()) {
        return;
    }
    const std::optional<NumberTable> table =
        read("id,b,label,a\nx,1,\"no, or\",2\n\"y\",3,yes,4\nz,5,\"no, or\",6\n",
             {ignored_column, 1, label_column, 0}, true);
    CHECK(table.has_value());
    if (table) {
        CHECK((table->values == std::vector<double>{2, 1, 4, 3, 6, 5}));
        CHECK((table->labels == std::vector<std::int32_t>{0, 1, 0}));
        CHECK((table->words == std::vector<std::string_view>{"no, or", "yes"}));
    }
}

TEST(what_is_not_simple_is_refused) {
    for (const char* const text :
         {"1,2\n", "1,2,a,b\n", "1,x,a\n", "1,,a\n", "1,2,\"a\n", "1,2,\"a\nb\"\n", "1,2,\"say \"\"no\"\"\"\n",
          "1,2,\"a\" b\n", "1,2,a\"b\n", "1,2,a\n1\n", "\t\n1,2,a\n", "1,inf,a\n"}) {
        CHECK(!read(text));
    }
}

TEST(limits_are_kept) {
    if (!reads_numbers()) {
        return;
    }
    CHECK(read("1,2,a\n3,4,b\n", feature_feature_label, false, {4, 1}).has_value());
    CHECK(!read("1,2,a\n3,4,b\n", feature_feature_label, false, {3, 1}));
    CHECK(!read("1,2,a\n3,4,bb\n", feature_feature_label, false, {4, 1}));
}
