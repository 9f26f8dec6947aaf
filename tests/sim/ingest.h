#pragma once

#include "firn/core/runtime.h"
#include "world.h"

namespace firn::sim {

/// A process that takes a number of deliveries, and then ends in good order.
///
/// Clients hand them over at once or one after the other, and count a record as
/// acknowledged if they are told so.
void RunIngest(Process& process);

}  // namespace firn::sim
