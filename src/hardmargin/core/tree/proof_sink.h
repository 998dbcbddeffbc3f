// A file of proof records, which the threads of a search and successive searches share.
//
// Every open subproblem has a number. The record with that number says how it was closed, possibly down to other
// open subproblems, whose numbers are larger. So records may be written in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tree/proof_record.h"

namespace hardmargin {

class ProofSink {
public:
    // Replaces the file, or goes on with one whose sink had given out this many numbers. Throws std::runtime_error
    // if that is impossible. Without a name, only the last record is stored, in memory.
    explicit ProofSink(const std::string& path, std::optional<std::uint64_t> numbers = std::nullopt);

    // A number for an open subproblem; the first is 1, because the whole problem has the number 0.
    std::uint64_t new_number();
    // Leaves out this many numbers, and returns the last one before them: another sink may give them out.
    std::uint64_t reserve(std::uint64_t count);
    // Appends a record. If the file cannot be written, for example because the disk is full, the search goes on
    // without records: the sink is no longer valid.
    void write(std::span<const std::uint8_t> record);
    // Marks the records as incomplete: a step could not be justified.
    void invalidate();
    bool valid() const;
    // Whether something could not be written.
    bool failed() const;
    // The last record, without a file.
    std::vector<std::uint8_t> last_record() const;
    // Bytes so far, and the last number that was given out.
    std::uint64_t size() const;
    std::uint64_t numbers() const;
    // Hands all that was written so far over to the system. Throws std::runtime_error if that is impossible.
    void flush();
    // Completes the file; nothing can be written afterwards.
    void close();

private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    void fail_locked();
    bool flush_locked();

    mutable std::mutex mutex_;
    std::unique_ptr<std::FILE, Closer> file_;
    const bool in_memory_;
    std::vector<std::uint8_t> last_record_;
    std::uint64_t numbers_ = 0;
    std::uint64_t size_ = 0;
    bool valid_ = true;
    bool failed_ = false;
};

}  // namespace hardmargin
