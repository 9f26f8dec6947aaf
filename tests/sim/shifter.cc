#include "shifter.h"

#include <algorithm>

#include "firn/wal/wal_reader.h"

namespace firn::sim {
namespace {

constexpr Duration kShiftIntervalMin = std::chrono::milliseconds(400);
constexpr Duration kShiftIntervalMax = std::chrono::hours(6);

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
               process.world.table(), process.root.id,
               ShiftOptionsOf(process.world.plan())) {}

  Result<shift::ShiftReport> Run(const StopToken& stop) {
    return shift_.Run(stop, observer_);
  }

  Status Clean() { return shift_.Clean().status(); }
  Status DeleteAbandoned() { return shift_.DeleteAbandoned().status(); }

 private:
  UncutParts observer_;
  wal::WalReader reader_;
  shift::TableShift shift_;
};

/// What failing calls, other processes and other engines may do to a shift.
bool IsExpected(const Status& status) {
  return IsError(status, ErrorKind::kUnavailable) ||
         IsError(status, ErrorKind::kOutcomeUnknown) ||
         IsError(status, ErrorKind::kConflict) || IsError(status, ErrorKind::kNotFound);
}

void Report(Process& process, const Status& status) {
  process.world.Report(fmt::format("{}: {}", process.node.name(), status.ToString()));
}

}  // namespace

shift::TableShiftOptions ShiftOptionsOf(const Plan& plan) {
  shift::TableShiftOptions options;
  options.iteration = {.limits = {.lower_bound_input_bytes_per_task = plan.file_bytes / 2,
                                  .upper_bound_input_bytes_per_task = plan.file_bytes},
                       .iteration_bytes = plan.iteration_bytes};
  options.retention = plan.retention;
  return options;
}

void RunShifter(Process& process, const StopToken& stop) {
  Shifter shifter(process);
  Duration interval = kShiftIntervalMin;
  while (!stop.stop_requested() && !process.node.crashed()) {
    const int rollback_changes = process.world.rollback_changes();
    const auto report = shifter.Run(process.node.crash_token());
    const Status cleaned = shifter.Clean();
    const Status abandoned = shifter.DeleteAbandoned();
    if (process.node.crashed()) return;
    const bool was_rolled_back = process.world.is_rolled_back() ||
                                 rollback_changes != process.world.rollback_changes();
    for (const Status& status : {report.status(), cleaned, abandoned}) {
      if (status.ok() || IsExpected(status) || was_rolled_back) continue;
      Report(process, status);
    }
    const bool is_in_vain = !report.ok() || report->figures.rows == 0;
    interval = is_in_vain ? std::min(2 * interval, kShiftIntervalMax) : kShiftIntervalMin;
    process.node.Sleep(interval);
  }
}

void ShiftAll(Process& process, bool is_last) {
  const auto report = Shifter(process).Run({});
  if (!report.ok()) return Report(process, report.status());
  if (!is_last) return;
  for (const shift::JudgedHole& hole : report->holes) {
    // A request that was under way for longer than its shard is remembered. Had it been
    // acknowledged, the table would lack it.
    if (hole.shard_state == shift::ShardState::kDead) continue;
    process.world.Report(fmt::format("segment {} of shard {} is missing",
                                     hole.hole.missing, hole.hole.shard));
  }
  for (const wal::WaitingShard& waiting : report->waiting) {
    process.world.Report(
        fmt::format("shard {} waits for source {}", waiting.shard, waiting.source));
  }
}

void DeleteAbandonedFiles(Process& process) {
  const Status status = Shifter(process).DeleteAbandoned();
  if (!status.ok()) Report(process, status);
}

}  // namespace firn::sim
