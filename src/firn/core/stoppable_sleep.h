#pragma once

#include <algorithm>

#include "firn/core/runtime.h"

namespace firn {

/// Sleeps; Cancelled, within 50 ms, once `stop` asks for it.
inline Status SleepUnlessStopped(Runtime& runtime, Duration duration,
                                 const StopToken& stop) {
  constexpr Duration kStep = std::chrono::milliseconds(50);
  for (; duration > Duration(0) && !stop.stop_requested(); duration -= kStep) {
    runtime.Sleep(std::min(duration, kStep));
  }
  return stop.Check();
}

}  // namespace firn
