#include "shifter.h"

#include "firn/shift/table_shift.h"
#include "firn/wal/wal_reader.h"

namespace firn::sim {
namespace {

constexpr Duration kShiftInterval = std::chrono::milliseconds(400);

/// Notes the files that may overlap, since no key could cut their chunks.
class UncutParts : public shift::ShiftObserver {
 public:
  explicit UncutParts(World& world) : world_(world) {}

  void OnPlanned(const shift::PlannedIteration& iteration) override {
    has_uncut_parts_ = iteration.plan.stats.uncut_parts > 0;
  }

  void OnChunk(const planner::Chunk&, const shift::ChunkFiles& chunk) override {
    if (!has_uncut_parts_) return;
    for (const iceberg::DataFile& file : chunk.files) world_.MayOverlap(file);
  }

 private:
  World& world_;
  bool has_uncut_parts_ = false;
};

shift::TableShiftOptions OptionsOf(const Plan& plan) {
  shift::TableShiftOptions options;
  options.iteration = {.limits = {.lower_bound_input_bytes_per_task = plan.file_bytes / 2,
                                  .upper_bound_input_bytes_per_task = plan.file_bytes},
                       .iteration_bytes = plan.iteration_bytes};
  return options;
}

class Shifter {
 public:
  explicit Shifter(Process& process)
      : observer_(process.world),
        reader_(process.node, process.wal),
        shift_({.runtime = process.node,
                .memory = process.memory,
                .metrics = process.metrics,
                .catalog = process.catalog,
                .io = process.io,
                .wal_store = process.wal,
                .wal_reader = reader_},
               process.world.table(), process.world.wal_id(),
               OptionsOf(process.world.plan())) {}

  Result<shift::ShiftReport> Run(const StopToken& stop) {
    return shift_.Run(stop, observer_);
  }

 private:
  UncutParts observer_;
  wal::WalReader reader_;
  shift::TableShift shift_;
};

void Expect(Process& process, const Status& status) {
  if (status.ok()) return;
  process.world.Report(fmt::format("{}: {}", process.node.name(), status.ToString()));
}

}  // namespace

void RunShifter(Process& process, const StopToken& stop) {
  Shifter shifter(process);
  while (!stop.stop_requested() && !process.node.crashed()) {
    const Status status = shifter.Run(process.node.crash_token()).status();
    if (process.node.crashed()) return;
    Expect(process, status);
    process.node.Sleep(kShiftInterval);
  }
}

void ShiftAll(Process& process) {
  const auto report = Shifter(process).Run({});
  if (!report.ok()) return Expect(process, report.status());
  for (const shift::JudgedHole& hole : report->holes) {
    process.world.Report(fmt::format("segment {} of shard {} is missing",
                                     hole.hole.missing, hole.hole.shard));
  }
  for (const wal::WaitingShard& waiting : report->waiting) {
    process.world.Report(
        fmt::format("shard {} waits for source {}", waiting.shard, waiting.source));
  }
}

}  // namespace firn::sim
