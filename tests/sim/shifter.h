#pragma once

#include "firn/core/runtime.h"
#include "firn/shift/table_shift.h"
#include "world.h"

namespace firn::sim {

shift::TableShiftOptions ShiftOptionsOf(const Plan& plan);

/// A process that shifts and cleans again and again until it is told to stop; less often
/// while there is nothing to do.
void RunShifter(Process& process, const StopToken& stop);

/// One shift; the last one must take all that is there.
void ShiftAll(Process& process, bool is_last);

/// What nobody can commit any more must be gone afterwards.
void DeleteAbandonedFiles(Process& process);

}  // namespace firn::sim
