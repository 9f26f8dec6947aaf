#pragma once

#include <cstdint>
#include <functional>

#include "firn/core/status.h"

namespace firn::sources {

/// Called before so many more bytes of memory are held; an error ends what wants them.
/// Nothing is given back: whoever counts knows when it is over.
using ClaimMemory = std::function<Status(std::int64_t bytes)>;

}  // namespace firn::sources
