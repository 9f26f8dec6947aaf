#include <chrono>

#include <arrow/util/key_value_metadata.h>
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <parquet/metadata.h>

#include "firn/cli/commands.h"
#include "firn/cli/file_text.h"
#include "firn/cli/json_output.h"
#include "firn/cli/key_text.h"
#include "firn/cli/shard_figures.h"
#include "firn/cli/table_access.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/wal/load_manifest.h"
#include "firn/wal/wal_reader.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

std::string TimeText(std::int64_t micros) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}Z",
                     fmt::gmtime(static_cast<std::time_t>(micros / 1'000'000)));
}

/// What the listing of one table's WAL shows, beside how far the table is.
struct WalView {
  WalId wal_id;
  std::vector<wal::ShardListing> shards;
  std::vector<std::string> loads;
  wal::Positions reached;
};

Result<WalView> ViewWal(Workspace& workspace, const OpenTable& table) {
  WalView view;
  FIRN_ASSIGN_OR_RETURN(view.wal_id, WalIdForReading(workspace));
  const TableUuid& uuid = table.metadata().table_uuid;
  FIRN_ASSIGN_OR_RETURN(view.shards, wal::ListShards(workspace.wal_store(), uuid));
  FIRN_ASSIGN_OR_RETURN(view.loads, wal::ListLoads(workspace.wal_store(), uuid));
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(table.metadata(), view.wal_id));
  view.reached = positions.reached;
  return view;
}

/// "<shard>/<sequence>".
std::vector<std::string> Quarantined(const WalView& view) {
  std::vector<std::string> segments;
  for (const wal::ShardListing& shard : view.shards) {
    for (const wal::SegmentObject& segment : shard.segments) {
      if (!segment.quarantined) continue;
      segments.push_back(fmt::format("{}/{}", shard.shard, segment.name.sequence));
    }
  }
  return segments;
}

void PrintWalText(const OpenTable& table, const WalView& view) {
  fmt::print("table  {} ({})\nWAL    {}\n\n", table.identifier,
             table.metadata().table_uuid, view.wal_id);
  TextTable text({{"shard", Align::kLeft, kNoLimit},
                  {"state"},
                  {"last write"},
                  {"segments", Align::kRight},
                  {"size", Align::kRight},
                  {"in the table through", Align::kRight},
                  {"waiting", Align::kRight},
                  {"size", Align::kRight}});
  for (const wal::ShardListing& shard : view.shards) {
    const ShardFigures figures = FiguresOf(shard, view.reached);
    text.AddRow({shard.shard.value(), shard.closed ? "closed" : "open",
                 TimeText(shard.modified_us), FormatCount(figures.segments),
                 FormatBytes(figures.bytes), fmt::format("{}", figures.reached),
                 FormatCount(figures.waiting), FormatBytes(figures.waiting_bytes)});
  }
  fmt::print("{}", text.ToString());
  for (const std::string& segment : Quarantined(view)) {
    fmt::print("\nin quarantine  {}", segment);
  }
  if (!Quarantined(view).empty()) fmt::print("\n");
  if (!view.loads.empty()) fmt::print("\nloads  {}\n", fmt::join(view.loads, ", "));
}

Json ToJson(const OpenTable& table, const WalView& view) {
  Json json = {{"table", ToString(table.identifier)},
               {"wal_id", view.wal_id.value()},
               {"loads", view.loads},
               {"quarantined", Quarantined(view)},
               {"shards", Json::array()}};
  for (const wal::ShardListing& shard : view.shards) {
    const ShardFigures figures = FiguresOf(shard, view.reached);
    json["shards"].push_back({{"shard", shard.shard.value()},
                              {"closed", shard.closed},
                              {"modified_us", shard.modified_us},
                              {"segments", figures.segments},
                              {"bytes", figures.bytes},
                              {"in_table_through", figures.reached.value()},
                              {"waiting_segments", figures.waiting},
                              {"waiting_bytes", figures.waiting_bytes}});
  }
  return json;
}

/// Tuples and keys of a segment alone: without its table, only as bytes.
void PrintSegmentText(const std::string& file, const wal::SegmentFooter& footer) {
  fmt::print("segment  {}\ntable    {}\nschema {}, partition spec {}, sort order {}\n",
             file, footer.table_uuid, footer.schema_id, footer.spec_id, footer.order_id);
  for (const wal::SourceRange& range : footer.ranges) {
    fmt::print("source   {} [{}, {})\n", range.source, range.first, range.next);
  }
  TextTable text({{"row group", Align::kRight},
                  {"run", Align::kRight},
                  {"rows", Align::kRight},
                  {"size", Align::kRight},
                  {"samples", Align::kRight},
                  {"partition"},
                  {"first key"},
                  {"last key"}});
  const auto encoder = EncoderOfKeyTypes(footer.key_types);
  for (std::size_t group = 0; group < footer.row_groups.size(); ++group) {
    for (std::size_t i = 0; i < footer.row_groups[group].size(); ++i) {
      const wal::SegmentRun& run = footer.row_groups[group][i];
      text.AddRow({fmt::format("{}", group), fmt::format("{}", i), FormatCount(run.rows),
                   FormatBytes(run.bytes), fmt::format("{}", run.samples.size()),
                   PlainTupleText(run.partition), KeyTextOrHex(encoder, run.first_key),
                   run.last_key ? KeyTextOrHex(encoder, *run.last_key) : "unbounded"});
    }
  }
  fmt::print("\n{}", text.ToString());
}

Json ToJson(const std::string& file, const wal::SegmentFooter& footer) {
  Json json = {{"segment", file},
               {"table_uuid", footer.table_uuid.value()},
               {"schema_id", footer.schema_id.value()},
               {"partition_spec_id", footer.spec_id.value()},
               {"sort_order_id", footer.order_id.value()},
               {"key_types", footer.key_types},
               {"ranges", Json::array()},
               {"runs", Json::array()}};
  for (const wal::SourceRange& range : footer.ranges) {
    json["ranges"].push_back(
        {{"source", range.source}, {"first", range.first}, {"next", range.next}});
  }
  const auto encoder = EncoderOfKeyTypes(footer.key_types);
  for (std::size_t group = 0; group < footer.row_groups.size(); ++group) {
    for (const wal::SegmentRun& run : footer.row_groups[group]) {
      json["runs"].push_back(
          {{"row_group", group},
           {"first_row", run.first_row},
           {"rows", run.rows},
           {"bytes", run.bytes},
           {"partition", PlainTupleText(run.partition)},
           {"first_key", KeyTextOrHex(encoder, run.first_key)},
           {"last_key",
            run.last_key ? Json(KeyTextOrHex(encoder, *run.last_key)) : Json(nullptr)},
           {"first_key_hex", HexText(run.first_key)},
           {"last_key_hex",
            run.last_key ? Json(HexText(*run.last_key)) : Json(nullptr)}});
    }
  }
  return json;
}

/// A Parquet file that is something else needs no backup of the WAL.
Status CheckIsSegment(const std::string& file, const parquet_io::Footer& footer) {
  const auto& key_values = footer->key_value_metadata();
  if (key_values != nullptr && key_values->Contains("firn.table-uuid")) {
    return Status::OK();
  }
  return InvalidError(
      "{}: is a Parquet file, but no segment of the log; 'firn inspect files TABLE' "
      "lists "
      "data files",
      file);
}

}  // namespace

Status RunInspectWal(const CommandContext& context, const std::string& name,
                     OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, name));
  FIRN_ASSIGN_OR_RETURN(const WalView view, ViewWal(*workspace, table));
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(table, view));
  } else {
    PrintWalText(table, view);
  }
  return Status::OK();
}

Status RunInspectSegment(const CommandContext& context, const std::string& file,
                         OutputFormat format) {
  FIRN_RETURN_NOT_OK(CheckNoFolder(file));
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  FIRN_ASSIGN_OR_RETURN(const std::string location,
                        IsInS3(file) ? file : AbsolutePath(file));
  FIRN_ASSIGN_OR_RETURN(const auto object, stores->file_io().Locate(location));
  const auto& [store, key] = object;
  FIRN_ASSIGN_OR_RETURN(const auto objects, store->List(key));
  if (objects.empty() || objects[0].key != key) {
    return Error(ErrorKind::kNotFound, "{}: no such file", file);
  }
  FIRN_ASSIGN_OR_RETURN(const parquet_io::Footer parquet_footer,
                        parquet_io::ReadFooter(*store, key, objects[0].size_bytes));
  FIRN_RETURN_NOT_OK(CheckIsSegment(file, parquet_footer));
  FIRN_ASSIGN_OR_RETURN(const wal::SegmentFooter footer,
                        wal::DecodeFooter(file, parquet_footer));
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(file, footer));
  } else {
    PrintSegmentText(file, footer);
  }
  return Status::OK();
}

}  // namespace firn::cli
