#include "simulation.h"

#include <vector>

#include "firn/shift/abandoned_files.h"
#include "ingest.h"
#include "machine.h"
#include "serving.h"
#include "shifter.h"
#include "trouble.h"
#include "world.h"

namespace firn::sim {
namespace {

/// All machines with all that can befall them, until every delivery was made.
void RunTroubled(World& world) {
  StopSource stop;
  const std::size_t ingest_machines = world.plan().ingest_machines;
  std::vector<int> deliveries_left(ingest_machines + world.plan().serve_machines,
                                   world.plan().deliveries);
  const auto start = [&](const std::string& name, std::size_t number, Role role) {
    return Thread(world.node(), name, [&world, name, number, role = std::move(role)] {
      RunMachine(world, name, world.root(number), role);
    });
  };
  Thread trouble(world.node(), "trouble", [&] { MakeTrouble(world, stop.token()); });
  std::vector<Thread> shifters;
  for (std::size_t i = 0; i < world.plan().shift_machines; ++i) {
    shifters.push_back(start(fmt::format("shift{}", i), i, [&](Process& process) {
      RunShifter(process, stop.token());
    }));
  }
  {
    std::vector<Thread> ingests;
    for (std::size_t i = 0; i < ingest_machines; ++i) {
      // Two that read one partition are what a rebalance leaves for a while.
      const int partition = static_cast<int>(world.node().Random64() % kSourcePartitions);
      ingests.push_back(start(fmt::format("ingest{}", i), i,
                              [&left = deliveries_left[i], partition](Process& process) {
                                RunIngest(process, partition, left);
                              }));
    }
    for (std::size_t i = 0; i < world.plan().serve_machines; ++i) {
      ingests.push_back(start(fmt::format("serve{}", i), i,
                              [&left = deliveries_left[ingest_machines + i]](
                                  Process& process) { RunServer(process, left); }));
    }
  }
  stop.RequestStop();
}

/// Nothing fails any more, and all that was sent comes in.
void Recover(World& world) {
  world.network().CalmDown();
  Process ingest(world, world.NewNode("last-ingest"), world.root(0));
  for (int i = 0; i < kSourcePartitions; ++i) FinishSource(ingest, i);
  // What waits for a source's rows in another root comes in the second time.
  for (const bool is_last : {false, true}) {
    for (std::size_t i = 0; i < world.plan().wal_roots; ++i) {
      Process shifter(world, world.NewNode("last-shift"), world.root(i));
      ShiftAll(shifter, is_last);
    }
  }
}

/// Long after the last batch, main is moved and the cleaners look.
void CleanUp(World& world) {
  // Snapshots are dated to the millisecond.
  world.node().Sleep(shift::kAbandonedAfter + std::chrono::milliseconds(1));
  AppendNothing(world);
  world.node().Sleep(world.plan().retention);
  for (std::size_t i = 0; i < world.plan().wal_roots; ++i) {
    Process cleaner(world, world.NewNode("last-cleaner"), world.root(i));
    DeleteAbandonedFiles(cleaner);
  }
  world.CheckNothingIsLeftOver();
}

}  // namespace

Outcome Simulate(std::uint64_t seed, std::optional<Rule> broken) {
  BreakRule(broken);
  World world(seed);
  RunTroubled(world);
  Recover(world);
  CleanUp(world);
  world.CheckTable();
  return {.problems = world.problems(),
          .trace_hash = world.sim().trace_hash(),
          .steps = world.sim().steps(),
          .acknowledged = world.records().acknowledged(),
          .shared_commits = world.shared_commits()};
}

}  // namespace firn::sim
