#include "firn/cli/shift_command.h"

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/log.h"
#include "firn/cli/progress.h"
#include "firn/cli/units.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

/// Shows the bytes of the chunks that are done.
class ShiftProgress : public shift::ShiftObserver {
 public:
  ShiftProgress(Runtime& runtime, std::string title)
      : runtime_(runtime), title_(std::move(title)) {}

  void OnPlanned(const shift::PlannedIteration& iteration) override {
    std::int64_t total = 0;
    for (const planner::Chunk& chunk : iteration.plan.chunks) total += chunk.bytes;
    done_ = 0;
    progress_.emplace(runtime_, title_, total);
  }

  void OnChunk(const planner::Chunk& chunk, const shift::ChunkFiles&) override {
    done_ += chunk.bytes;
    progress_->Update(done_, FormatBytes(done_) + " of the log merged");
  }

 private:
  Runtime& runtime_;
  const std::string title_;
  std::int64_t done_ = 0;
  std::optional<Progress> progress_;
};

void PrintReport(const OpenTable& table, const shift::ShiftReport& report,
                 Duration duration) {
  if (report.commits == 0) {
    fmt::print("{}: the WAL holds nothing that is not in the table yet\n",
               table.identifier);
    return;
  }
  const double seconds = std::max(static_cast<double>(duration.count()) / 1e6, 1e-3);
  fmt::print(
      "{}: {} rows in {} files, {}; {} {}, in {} ({} rows/s)\n", table.identifier,
      FormatCount(report.rows), FormatCount(report.files),
      FormatBytes(report.output_bytes), report.commits,
      report.commits == 1 ? "commit" : "commits", FormatDuration(duration),
      FormatCount(static_cast<std::int64_t>(static_cast<double>(report.rows) / seconds)));
  fmt::print("  from {} segments, {} of runs in {} clusters ({} oversized)\n",
             FormatCount(report.segments), FormatBytes(report.input_bytes),
             FormatCount(report.clusters), report.oversized_clusters);
  if (report.overlap_depth_max) {
    fmt::print("  files of a partition over one key: {}\n", *report.overlap_depth_max);
  }
  if (report.verbatim_bytes > 0) {
    fmt::print("  copied without decoding: {}\n", FormatBytes(report.verbatim_bytes));
  }
  if (report.uncut_parts > 0) {
    fmt::print("  parts over the upper bound on one key: {}\n", report.uncut_parts);
  }
  if (report.failover_rolls > 0) {
    fmt::print("  files that grew past writer_max_parquet_bytes: {}\n",
               report.failover_rolls);
  }
  if (report.superseded > 0) {
    fmt::print("  planned again, another process was faster: {}\n", report.superseded);
  }
}

void WarnOfWhatWaits(const OpenTable& table, const shift::ShiftReport& report) {
  for (const wal::ShardHole& hole : report.holes) {
    LogWarning(fmt::format(
        "{}: shard {} waits: segment {} is missing though later ones are there; what is "
        "behind it was never acknowledged",
        table.identifier, hole.shard, hole.missing));
  }
  for (const wal::WaitingShard& waiting : report.waiting) {
    LogWarning(fmt::format(
        "{}: shard {} waits: source {} is at {}, and its next segment starts at {}",
        table.identifier, waiting.shard, waiting.source, waiting.position,
        waiting.first));
  }
}

Status ShiftAll(Workspace& workspace, const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(const auto namespaces, workspace.catalog().ListNamespaces());
  Status first_failure;
  for (const std::string& name : namespaces) {
    FIRN_ASSIGN_OR_RETURN(const auto tables, workspace.catalog().ListTables(name));
    for (const iceberg::TableIdentifier& identifier : tables) {
      // One bad table does not stop the others.
      const auto table = FindTable(workspace, ToString(identifier));
      const Status status =
          table.ok() ? ShiftAndReport(workspace, *table, stop) : table.status();
      if (IsError(status, ErrorKind::kCancelled)) return status;
      if (status.ok()) continue;
      LogWarning(ErrorText(status));
      if (first_failure.ok()) first_failure = status;
    }
  }
  return first_failure;
}

}  // namespace

Status ShiftAndReport(Workspace& workspace, const OpenTable& table,
                      const StopToken& stop) {
  Runtime& runtime = workspace.runtime();
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id,
                        wal::OpenWalRoot(runtime, workspace.wal_store()));
  wal::WalReader reader(runtime, workspace.wal_store());
  const std::string name = ToString(table.identifier);
  shift::TableShift shift({.runtime = runtime,
                           .catalog = workspace.catalog(),
                           .io = workspace.file_io(),
                           .wal_store = workspace.wal_store(),
                           .wal_reader = reader},
                          table.identifier, wal_id,
                          ShiftOptions(workspace.config(), name));
  const BootTime begin = runtime.SinceBoot();
  Result<shift::ShiftReport> report = [&] {
    ShiftProgress progress(runtime, "shift " + name);
    return shift.Run(stop, progress);
  }();
  FIRN_RETURN_NOT_OK(AddContext(report.status(), "shift of " + name));
  PrintReport(table, *report, runtime.SinceBoot() - begin);
  WarnOfWhatWaits(table, *report);
  return Status::OK();
}

Status RunShift(const CommandContext& context, const ShiftArguments& arguments) {
  if (arguments.table.empty() && !arguments.all) {
    return AsUsageError(InvalidError("name a table, or give --all"));
  }
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        Workspace::Open(context.config, context.runtime));
  if (arguments.all) return ShiftAll(*workspace, context.stop);
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, arguments.table));
  return ShiftAndReport(*workspace, table, context.stop);
}

}  // namespace firn::cli
