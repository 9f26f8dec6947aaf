#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn {

/// What ForEachInParallel may use.
struct ParallelOptions {
  /// The caller's counts as one.
  std::size_t threads_max = 1;
  std::string thread_name;
};

/// Calls `body(i)` for each i below `count`, begun in that order, several at a time.
///
/// The error is that of the least i that fails, the same that calls one after another
/// would have met first; behind it no more are begun. `body` must be thread-safe.
Status ForEachInParallel(Runtime& runtime, std::size_t count,
                         const ParallelOptions& options,
                         const std::function<Status(std::size_t)>& body);

}  // namespace firn
