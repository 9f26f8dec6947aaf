#include "machine.h"

#include "chance.h"

namespace firn::sim {
namespace {

constexpr int kCrashesMax = 3;
constexpr Duration kRestartMax = std::chrono::seconds(2);

}  // namespace

void RunMachine(World& world, const std::string& name, WalRoot& root, const Role& role) {
  for (int life = 1;; ++life) {
    SimNode& node = world.NewNode(fmt::format("{}-{}", name, life));
    const std::int64_t steps = world.plan().steps_to_crash;
    if (steps > 0 && life <= kCrashesMax) {
      node.CrashAfter(1 + static_cast<std::int64_t>(node.Random64() % steps));
    }
    Process process(world, node, root);
    Thread(node, "main", [&] { role(process); }).Join();
    if (process.memory.used_bytes() != 0) {
      world.Report(fmt::format("{} ends with {} bytes of its memory taken", node.name(),
                               process.memory.used_bytes()));
    }
    if (!node.crashed()) return;
    world.node().Sleep(UpTo(world.node(), kRestartMax));
  }
}

}  // namespace firn::sim
