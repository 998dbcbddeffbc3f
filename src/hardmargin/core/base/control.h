// When a search in the core has to stop, and how it reports its progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

namespace hardmargin {

struct Progress {
    double upper;         // objective of the incumbent
    double lower;         // proven bound
    std::uint64_t nodes;  // rounds or subproblems so far
};

// For searches without a stop.
inline bool never() {
    return false;
}

class Control {
public:
    using Clock = std::chrono::steady_clock;
    // Called every few hundredths of a second, and sooner if there is a better incumbent; returns false to stop the
    // search.
    using Observer = std::function<bool(const Progress&)>;

    Control(double seconds, Observer observer);
    // The time this many seconds from now.
    static Clock::time_point after(double seconds);

    // Whether the search must stop now: the time is up, or the observer asked for it. Cheap enough to call
    // thousands of times per second.
    bool stop(const Progress& progress);
    bool timed_out() const { return timed_out_; }
    bool interrupted() const { return interrupted_; }
    // Whether stop() has returned true.
    bool ended() const { return timed_out_ || interrupted_; }

private:
    Clock::time_point deadline_;
    Clock::time_point last_call_;
    double last_upper_ = std::numeric_limits<double>::infinity();
    Observer observer_;
    bool timed_out_ = false;
    bool interrupted_ = false;
};

}  // namespace hardmargin
