#include "firn/cli/shift_command.h"

#include <algorithm>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/landing.h"
#include "firn/cli/log.h"
#include "firn/cli/progress.h"
#include "firn/cli/units.h"
#include "firn/cli/waiting_segments.h"
#include "firn/cli/waiting_text.h"
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

/// "1.2 MiB to 130 MiB, half of them up to 90 MiB".
std::string FormatSizes(std::vector<std::int64_t> bytes) {
  std::ranges::sort(bytes);
  if (bytes.front() == bytes.back()) return FormatBytes(bytes.front());
  return fmt::format("{} to {}, half of them up to {}", FormatBytes(bytes.front()),
                     FormatBytes(bytes.back()),
                     FormatBytes(bytes[(bytes.size() - 1) / 2]));
}

/// A line for each figure that is not as usual.
void PrintUnusual(const shift::ShiftReport& report) {
  const shift::ShiftFigures& figures = report.figures;
  if (figures.verbatim_bytes > 0) {
    fmt::print("  copied without decoding: {}\n", FormatBytes(figures.verbatim_bytes));
  }
  if (figures.uncut_parts > 0) {
    fmt::print(
        "  parts over the upper bound in which no key to cut at is known: {} (their "
        "files "
        "may overlap)\n",
        figures.uncut_parts);
  }
  if (figures.quarantined_segments > 0) {
    fmt::print("  segments in quarantine, left out: {}\n", figures.quarantined_segments);
  }
  if (figures.failover_rolls > 0) {
    fmt::print("  files that grew past writer_max_parquet_bytes: {}\n",
               figures.failover_rolls);
  }
  if (report.superseded > 0) {
    fmt::print("  planned again, another process was faster: {}\n", report.superseded);
  }
}

void PrintReport(const OpenTable& table, const shift::ShiftReport& report,
                 Duration duration) {
  const shift::ShiftFigures& figures = report.figures;
  if (figures.commits == 0) {
    if (!report.holes.empty() || !report.waiting.empty()) return;
    fmt::print("{}: the WAL holds nothing that is not in the table yet\n",
               table.identifier);
    return;
  }
  fmt::print("{}: {} in {}, {}; {}, in {} ({})\n", table.identifier,
             FormatCounted(figures.rows, "row"), FormatCounted(figures.files(), "file"),
             FormatBytes(figures.output_bytes), FormatCounted(figures.commits, "commit"),
             FormatDuration(duration), FormatRate(figures.rows, "rows", duration));
  fmt::print("  from {}, {} of runs in {} ({} oversized, {})\n",
             FormatCounted(figures.segments, "segment"), FormatBytes(figures.input_bytes),
             FormatCounted(figures.clusters, "cluster"), figures.oversized_clusters,
             FormatCounted(figures.tail_merges, "tail merge"));
  if (!figures.file_bytes.empty()) {
    fmt::print("  size of a file: {}\n", FormatSizes(figures.file_bytes));
  }
  if (figures.overlap_depth_max) {
    fmt::print("  files of one commit over one key of a partition: {}\n",
               *figures.overlap_depth_max);
  }
  PrintUnusual(report);
}

std::string HoleOf(const OpenTable& table, const shift::JudgedHole& judged) {
  return fmt::format("{}: {}", table.identifier, HoleText(judged));
}

void WarnOfWhatWaits(const OpenTable& table, const shift::ShiftReport& report) {
  for (const shift::JudgedHole& hole : report.holes) {
    LogWarning(HoleOf(table, hole));
  }
  for (const wal::WaitingShard& waiting : report.waiting) {
    LogWarning(fmt::format("{}: {}", table.identifier, WaitingText(waiting)));
  }
}

/// What cannot be deleted today can be tomorrow: that is no reason to fail.
void CleanWal(const OpenTable& table, shift::TableShift& shift) {
  const Result<std::int64_t> deleted = shift.Clean();
  if (!deleted.ok()) {
    LogWarning(
        fmt::format("{}: drained segments stay in the WAL until the next shift: {}",
                    table.identifier, ErrorText(deleted.status())));
  } else if (*deleted > 0) {
    fmt::print("  deleted from the WAL: {} that the table took long ago\n",
               FormatCounted(*deleted, "segment"));
  }
}

/// As above.
void DeleteAbandonedFiles(const OpenTable& table, shift::TableShift& shift) {
  const Result<std::int64_t> deleted = shift.DeleteAbandoned();
  if (!deleted.ok()) {
    LogWarning(fmt::format("{}: files of abandoned batches stay until the next shift: {}",
                           table.identifier, ErrorText(deleted.status())));
  } else if (*deleted > 0) {
    fmt::print("  deleted from the table's folder: {} that no snapshot names\n",
               FormatCounted(*deleted, "data file"));
  }
}

/// The table is right without it, too.
void MergeManifests(const OpenTable& table, shift::TableShift& shift) {
  const Result<std::int64_t> merged = shift.MergeManifests();
  if (!merged.ok()) {
    LogWarning(fmt::format("{}: manifests are not merged: {}", table.identifier,
                           ErrorText(merged.status())));
  } else if (*merged > 0) {
    fmt::print("  merged {}\n", FormatCounted(*merged, "small manifest"));
  }
}

/// Shifts, and prints what was done. Of what waits the caller tells.
Result<shift::ShiftReport> ShiftTable(Workspace& workspace, const OpenTable& table,
                                      const StopToken& stop) {
  Runtime& runtime = workspace.runtime();
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id,
                        wal::OpenWalRoot(runtime, workspace.wal_store()));
  wal::WalReader reader(runtime, workspace.wal_store());
  const std::string name = ToString(table.identifier);
  shift::TableShift shift = MakeTableShift(workspace, reader, table, wal_id);
  const BootTime begin = runtime.SinceBoot();
  Result<shift::ShiftReport> report = [&] {
    ShiftProgress progress(runtime, "shift " + name);
    return shift.Run(stop, progress);
  }();
  FIRN_RETURN_NOT_OK(AddContext(report.status(), "shift of " + name));
  PrintReport(table, *report, runtime.SinceBoot() - begin);
  MergeManifests(table, shift);
  CleanWal(table, shift);
  DeleteAbandonedFiles(table, shift);
  return report;
}

/// Fails, where the rows of a shard were durable and are gone: nobody would see it in a
/// warning.
Status ShiftOrTellLoss(Workspace& workspace, const OpenTable& table,
                       const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(shift::ShiftReport report, ShiftTable(workspace, table, stop));
  const auto is_loss = [](const shift::JudgedHole& judged) {
    return judged.shard_state == shift::ShardState::kClosed;
  };
  const auto loss = std::ranges::find_if(report.holes, is_loss);
  if (loss == report.holes.end()) {
    WarnOfWhatWaits(table, report);
    return Status::OK();
  }
  const std::string text = HoleOf(table, *loss);
  report.holes.erase(loss);
  WarnOfWhatWaits(table, report);
  return InvalidError("{}", text);
}

/// Dead letters that a load left in the WAL take the way of their table's rows.
Status ShiftWaitingLetters(Workspace& workspace, const OpenTable& table,
                           const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(const auto letters,
                        FindDeadLetterTable(workspace, ToString(table.identifier)));
  if (!letters) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const std::int64_t waiting,
                        CountWaitingSegments(workspace, *letters));
  return waiting == 0 ? Status::OK() : ShiftOrTellLoss(workspace, *letters, stop);
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
          table.ok() ? ShiftOrTellLoss(workspace, *table, stop) : table.status();
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
  FIRN_ASSIGN_OR_RETURN(const shift::ShiftReport report,
                        ShiftTable(workspace, table, stop));
  WarnOfWhatWaits(table, report);
  return Status::OK();
}

Status RunShift(const CommandContext& context, const ShiftArguments& arguments) {
  if (arguments.table.empty() && !arguments.all) {
    return AsUsageError(InvalidError("name a table, or give --all"));
  }
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kCreate));
  if (arguments.all) return ShiftAll(*workspace, context.stop);
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, arguments.table));
  FIRN_RETURN_NOT_OK(ShiftOrTellLoss(*workspace, table, context.stop));
  return ShiftWaitingLetters(*workspace, table, context.stop);
}

}  // namespace firn::cli
