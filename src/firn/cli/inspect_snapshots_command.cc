#include "firn/cli/inspect_snapshots_command.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <vector>

#include "firn/cli/commands.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table_access.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/core/whole_number.h"

namespace firn::cli {
namespace {

std::vector<std::string> RefsTo(const iceberg::TableMetadata& metadata, SnapshotId id) {
  std::vector<std::string> names;
  for (const auto& [name, ref] : metadata.refs) {
    if (ref.snapshot_id == id) names.push_back(name);
  }
  return names;
}

/// An entry of the summary, a number as people read it; "?" if the writer left it out.
std::string SummaryText(const iceberg::Snapshot& snapshot, const char* name) {
  const auto found = snapshot.summary.find(name);
  if (found == snapshot.summary.end()) return "?";
  const auto number = ParseWholeNumber<std::int64_t>(found->second);
  return number ? FormatCount(*number) : found->second;
}

Json ToJson(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot) {
  // Ids are above 2^53, where many JSON readers round.
  Json json = {{"snapshot_id", fmt::to_string(snapshot.snapshot_id)},
               {"parent_snapshot_id", nullptr},
               {"sequence_number", snapshot.sequence_number.value()},
               {"timestamp_ms", snapshot.timestamp_ms},
               {"refs", RefsTo(metadata, snapshot.snapshot_id)},
               {"manifest_list", snapshot.manifest_list},
               {"summary", snapshot.summary}};
  if (snapshot.parent_snapshot_id) {
    json["parent_snapshot_id"] = fmt::to_string(*snapshot.parent_snapshot_id);
  }
  return json;
}

}  // namespace

std::string SnapshotsText(const iceberg::TableMetadata& metadata) {
  if (metadata.snapshots.empty()) return "";
  TextTable table({{"snapshot", Align::kRight},
                   {"parent", Align::kRight},
                   {"time"},
                   {"operation"},
                   {"added rows", Align::kRight},
                   {"total rows", Align::kRight},
                   {"total files", Align::kRight},
                   {"named"}});
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    const auto seconds = static_cast<std::time_t>(snapshot.timestamp_ms / 1000);
    table.AddRow(
        {fmt::to_string(snapshot.snapshot_id),
         snapshot.parent_snapshot_id ? fmt::to_string(*snapshot.parent_snapshot_id) : "",
         fmt::format("{:%Y-%m-%d %H:%M:%S}Z", fmt::gmtime(seconds)),
         SummaryText(snapshot, "operation"), SummaryText(snapshot, "added-records"),
         SummaryText(snapshot, "total-records"),
         SummaryText(snapshot, "total-data-files"),
         fmt::format("{}", fmt::join(RefsTo(metadata, snapshot.snapshot_id), ", "))});
  }
  return table.ToString();
}

Status RunInspectSnapshots(const CommandContext& context, const std::string& name,
                           OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, name));
  const iceberg::TableMetadata& metadata = table.metadata();
  if (format == OutputFormat::kText) {
    fmt::print("{}", metadata.snapshots.empty() ? name + " has no snapshot yet\n"
                                                : SnapshotsText(metadata));
    return Status::OK();
  }
  Json json = Json::array();
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    json.push_back(ToJson(metadata, snapshot));
  }
  PrintJson(json);
  return Status::OK();
}

}  // namespace firn::cli
