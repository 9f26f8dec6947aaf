#include "network.h"

namespace firn::sim {

bool Network::Travel(SimNode& node) const {
  if (node.crashed()) return false;
  node.Sleep(Duration(static_cast<std::int64_t>(
      node.Random64() % static_cast<std::uint64_t>(latency_max_.count()))));
  return !node.crashed();
}

Status Network::Gone(const SimNode& node) {
  return InvalidError("{} has crashed: this is its ghost", node.name());
}

}  // namespace firn::sim
