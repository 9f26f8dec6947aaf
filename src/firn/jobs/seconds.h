#pragma once

#include <chrono>

#include "firn/core/runtime.h"

namespace firn::jobs {

/// As metrics and messages have it.
inline double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace firn::jobs
