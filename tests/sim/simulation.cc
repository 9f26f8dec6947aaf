#include "simulation.h"

#include "ingest.h"
#include "shifter.h"
#include "world.h"

namespace firn::sim {

Outcome Simulate(std::uint64_t seed) {
  World world(seed);
  {
    Process ingest(world, world.sim().NewNode("ingest"));
    Process shifter(world, world.sim().NewNode("shifter"));
    StopSource stop;
    Thread shifting(shifter.node, "main", [&] { RunShifter(shifter, stop.token()); });
    Thread ingesting(ingest.node, "main", [&] { RunIngest(ingest); });
    ingesting.Join();
    stop.RequestStop();
  }
  Process last(world, world.sim().NewNode("last"));
  ShiftAll(last);
  world.CheckTable();
  return {.problems = world.problems(),
          .trace_hash = world.sim().trace_hash(),
          .steps = world.sim().steps(),
          .acknowledged = world.records().acknowledged()};
}

}  // namespace firn::sim
