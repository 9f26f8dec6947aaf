#pragma once

#include <functional>
#include <string>

#include "world.h"

namespace firn::sim {

/// What a process does from its start to its end.
using Role = std::function<void(Process&)>;

/// A machine whose process crashes now and then at any of its steps, and starts again
/// with nothing in memory; until the role has ended in good order.
void RunMachine(World& world, const std::string& name, WalRoot& root, const Role& role);

}  // namespace firn::sim
