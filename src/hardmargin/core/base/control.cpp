#include "base/control.h"

#include <algorithm>
#include <utility>

namespace hardmargin {

namespace {

constexpr std::chrono::milliseconds call_interval{40};
// For a better incumbent: the first ones come within milliseconds.
constexpr std::chrono::milliseconds short_interval{1};
// Longer limits overflow the clock. This is about a century.
constexpr double longest_seconds = 3e9;

}  // namespace

Control::Control(double seconds, Observer observer)
    : deadline_(after(seconds)),
      // The first call is due at once.
      last_call_(Clock::now() - call_interval),
      observer_(std::move(observer)) {}

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
    const auto interval = progress.upper < last_upper_ ? short_interval : call_interval;
    if (observer_ && now - last_call_ >= interval) {
        last_call_ = now;
        last_upper_ = progress.upper;
        interrupted_ = !observer_(progress);
    }
    return interrupted_;
}

}  // namespace hardmargin
