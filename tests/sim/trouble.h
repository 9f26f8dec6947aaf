#pragma once

#include "firn/core/runtime.h"
#include "world.h"

namespace firn::sim {

/// What befalls the table and the machines from outside, until told to stop: other
/// engines that commit, compact and expire; rollbacks, and the operator who resets them;
/// machines that are suspended, and whose clocks jump. Ends with the table reset.
void MakeTrouble(World& world, const StopToken& stop);

/// A commit of another engine that only moves main; nothing if somebody else was faster.
void AppendNothing(World& world);

}  // namespace firn::sim
