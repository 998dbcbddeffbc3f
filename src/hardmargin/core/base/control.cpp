#include "base/control.h"

#include <algorithm>
#include <utility>

namespace hardmargin {

namespace {

constexpr std::chrono::milliseconds call_interval{40};
// Longer limits overflow the clock. This is about a century.
constexpr double longest_seconds = 3e9;

}  // namespace

Control::Control(double seconds, Observer observer)
    : deadline_(after(seconds)), next_call_(Clock::now()), observer_(std::move(observer)) {}

Control::Clock::time_point Control::after(double seconds) {
    const std::chrono::duration<double> limited(std::min(seconds, longest_seconds));
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(limited);
}

bool Control::stop(const Progress& progress) {
    if (ended()) {
        return true;
    }
    const Clock::time_point now = Clock::now();
    if (now >= deadline_) {
        timed_out_ = true;
        return true;
    }
    if (observer_ && now >= next_call_) {
        next_call_ = now + call_interval;
        interrupted_ = !observer_(progress);
    }
    return interrupted_;
}

}  // namespace hardmargin
