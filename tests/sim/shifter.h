#pragma once

#include "firn/core/runtime.h"
#include "world.h"

namespace firn::sim {

/// A process that shifts again and again until it is told to stop.
void RunShifter(Process& process, const StopToken& stop);

/// One shift, which must take all that is there.
void ShiftAll(Process& process);

}  // namespace firn::sim
