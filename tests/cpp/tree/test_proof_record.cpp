#include <cstdint>
#include <vector>

#include "check.h"
#include "tree/proof_record.h"

using namespace hardmargin;

namespace {

std::vector<int> bytes(const ProofRecord& record) {
    return {record.bytes().begin(), record.bytes().end()};
}

}  // namespace

TEST(numbers_of_a_record_have_seven_bits_per_byte) {
    ProofRecord record;
    record.number(5);
    record.number(257);
    CHECK((bytes(record) == std::vector<int>{5, 0x81, 2}));
    record.shorten(1);
    record.step(ProofStep::branch);
    CHECK((bytes(record) == std::vector<int>{5, 5}));
    record.clear();
    record.number(~std::uint64_t{0});
    CHECK(record.size() == 10);
}

TEST(lists_of_samples_are_differences) {
    ProofRecord record;
    record.ascending(std::vector<std::uint32_t>{3, 4, 200});
    CHECK((bytes(record) == std::vector<int>{3, 3, 1, 196, 1}));
    record.ascending({});
    CHECK(record.size() == 6);
}
