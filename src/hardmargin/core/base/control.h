// How a search in the core hears when to stop and tells how far it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace hardmargin {

struct Progress {
    double upper;         // objective of the incumbent
    double lower;         // proven bound
    std::uint64_t nodes;  // rounds or subproblems so far
};

// For searches that nobody wants to end.
inline bool never() {
    return false;
}

class Control {
public:
    using Clock = std::chrono::steady_clock;
    // Called at most every few hundredths of a second; returns false to stop the search.
    using Observer = std::function<bool(const Progress&)>;

    Control(double seconds, Observer observer);
    // The time so many seconds from now.
    static Clock::time_point after(double seconds);

    // Whether the search must stop now: the time is up, or the observer asked for it. Cheap enough to be
    // asked thousands of times a second.
    bool stop(const Progress& progress);
    bool timed_out() const { return timed_out_; }
    bool interrupted() const { return interrupted_; }

private:
    Clock::time_point deadline_;
    Clock::time_point next_call_;
    Observer observer_;
    bool timed_out_ = false;
    bool interrupted_ = false;
};

}  // namespace hardmargin
