#include "tree/proof_sink.h"

#include <stdexcept>

namespace hardmargin {

ProofSink::ProofSink(const std::string& path, std::optional<std::uint64_t> numbers)
    : file_(path.empty() ? nullptr : std::fopen(path.c_str(), numbers ? "ab" : "wb")),
      in_memory_(path.empty()),
      numbers_(numbers.value_or(0)) {
    // At the end, where the next record is written.
    if (!in_memory_ && (!file_ || std::fseek(file_.get(), 0, SEEK_END) != 0)) {
        throw std::runtime_error("proof: cannot write " + path);
    }
    size_ = file_ ? static_cast<std::uint64_t>(std::ftell(file_.get())) : 0;
}

std::uint64_t ProofSink::new_number() {
    const std::lock_guard lock(mutex_);
    return ++numbers_;
}

std::uint64_t ProofSink::reserve(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t last = numbers_;
    numbers_ += count;
    return last;
}

void ProofSink::write(std::span<const std::uint8_t> record) {
    ProofRecord length;
    length.number(record.size());
    const std::lock_guard lock(mutex_);
    if (in_memory_) {
        last_record_.assign(record.begin(), record.end());
        return;
    }
    if (failed_) {
        return;
    }
    if (!file_) {
        throw std::runtime_error("proof: the file is closed");
    }
    for (const std::span<const std::uint8_t> part : {length.bytes(), record}) {
        if (std::fwrite(part.data(), 1, part.size(), file_.get()) != part.size()) {
            fail_locked();
            return;
        }
        size_ += part.size();
    }
}

void ProofSink::fail_locked() {
    failed_ = true;
    valid_ = false;
}

bool ProofSink::failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

std::vector<std::uint8_t> ProofSink::last_record() const {
    const std::lock_guard lock(mutex_);
    return last_record_;
}

void ProofSink::invalidate() {
    const std::lock_guard lock(mutex_);
    valid_ = false;
}

bool ProofSink::valid() const {
    const std::lock_guard lock(mutex_);
    return valid_;
}

std::uint64_t ProofSink::size() const {
    const std::lock_guard lock(mutex_);
    return size_;
}

std::uint64_t ProofSink::numbers() const {
    const std::lock_guard lock(mutex_);
    return numbers_;
}

bool ProofSink::flush_locked() {
    if (file_ && std::fflush(file_.get()) != 0) {
        fail_locked();
    }
    return !failed_;
}

void ProofSink::flush() {
    const std::lock_guard lock(mutex_);
    if (!flush_locked()) {
        throw std::runtime_error("proof: cannot write the file; is the disk full?");
    }
}

void ProofSink::close() {
    const std::lock_guard lock(mutex_);
    flush_locked();
    file_.reset();
}

}  // namespace hardmargin
