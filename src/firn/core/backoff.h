#pragma once

#include <algorithm>

#include "firn/core/runtime.h"

namespace firn {

/// How long to wait between attempts: at most `first` after the first failure, twice as
/// long after each further one, never longer than `max`.
struct Backoff {
  Duration first;
  Duration max;
};

/// A random wait from zero to the bound ("full jitter"): those that failed together do
/// not meet again. REQUIRES: `failed_attempts` > 0, `backoff.first` > 0.
inline Duration WaitAfter(int failed_attempts, const Backoff& backoff, Runtime& runtime) {
  Duration bound = backoff.first;
  for (int i = 1; i < failed_attempts && bound < backoff.max; ++i) bound *= 2;
  bound = std::min(bound, backoff.max);
  return Duration(static_cast<std::int64_t>(runtime.Random64() %
                                            static_cast<std::uint64_t>(bound.count())));
}

}  // namespace firn
