#pragma once

#include "firn/core/memory_budget.h"

namespace firn::jobs {

// The memory for buffers holds a request at three stages, each of which may fill it
// further than the one before: what has begun finds room, and what is refused is refused
// before it is read.

/// While its body is read.
inline MemoryShare BodyShare(MemoryBudget& buffers) {
  return {.budget = &buffers, .limit_bytes = buffers.limit_bytes() / 2};
}

/// While its records are made, until the table's buffer takes them, up to the limit.
inline MemoryShare RecordShare(MemoryBudget& buffers) {
  return {.budget = &buffers, .limit_bytes = buffers.limit_bytes() / 4 * 3};
}

}  // namespace firn::jobs
