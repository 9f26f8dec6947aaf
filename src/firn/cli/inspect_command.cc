#include <chrono>
#include <filesystem>

#include <arrow/util/key_value_metadata.h>
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <parquet/metadata.h>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/inspect_snapshots_command.h"
#include "firn/cli/json_output.h"
#include "firn/cli/key_text.h"
#include "firn/cli/shard_figures.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/terminal.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/core/base64.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/shift/chunk_writer.h"
#include "firn/storage/location.h"
#include "firn/wal/load_manifest.h"
#include "firn/wal/wal_reader.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

std::string TimeText(std::int64_t micros) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}Z",
                     fmt::gmtime(static_cast<std::time_t>(micros / 1'000'000)));
}

/// A data file of the current snapshot, and what its own footer says of its keys.
struct LiveFile {
  iceberg::DataFile file;
  std::string partition;
  std::string first_key;
  std::string last_key;
};

/// The key under `name` in a file's footer as text; empty if the file was not written by
/// Firn.
Result<std::string> FooterKey(const parquet_io::Footer& footer, const char* name,
                              const order::KeyEncoder& encoder) {
  const auto& key_values = footer->key_value_metadata();
  if (key_values == nullptr || !key_values->Contains(name)) return std::string();
  FIRN_ASSIGN_OR_RETURN(const std::string text, key_values->Get(name));
  FIRN_ASSIGN_OR_RETURN(const std::string key, DecodeBase64(text));
  return KeyText(encoder, key);
}

Status ReadKeyRange(Workspace& workspace, const iceberg::TableMetadata& metadata,
                    LiveFile& live) {
  const order::SortOrder* order =
      FindSortOrder(metadata, live.file.sort_order_id.value_or(SortOrderId(0)));
  if (order == nullptr || order->fields.empty()) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const order::KeyEncoder encoder,
                        order::KeyEncoder::Make(*order, SchemaFor(metadata, *order)));
  FIRN_ASSIGN_OR_RETURN(const auto object,
                        workspace.file_io().Locate(live.file.file_path));
  FIRN_ASSIGN_OR_RETURN(
      const parquet_io::Footer footer,
      parquet_io::ReadFooter(*object.store, object.key, live.file.file_size_in_bytes));
  FIRN_ASSIGN_OR_RETURN(live.first_key, FooterKey(footer, shift::kFirstKeyName, encoder));
  FIRN_ASSIGN_OR_RETURN(live.last_key, FooterKey(footer, shift::kLastKeyName, encoder));
  return Status::OK();
}

Result<std::vector<LiveFile>> ListLiveFiles(Workspace& workspace,
                                            const iceberg::TableMetadata& metadata) {
  std::vector<LiveFile> files;
  const iceberg::Snapshot* snapshot = CurrentSnapshot(metadata);
  if (snapshot == nullptr) return files;
  const iceberg::FileIo& io = workspace.file_io();
  FIRN_ASSIGN_OR_RETURN(const auto manifests,
                        ReadManifestList(io, snapshot->manifest_list));
  for (const iceberg::ManifestFile& manifest : manifests) {
    FIRN_ASSIGN_OR_RETURN(auto entries, ReadManifest(io, metadata, manifest));
    for (iceberg::ManifestEntry& entry : entries) {
      if (entry.status == iceberg::EntryStatus::kDeleted) continue;
      LiveFile live{.file = std::move(entry.data_file)};
      const types::PartitionSpec* spec = FindSpec(metadata, live.file.partition_spec_id);
      FIRN_ASSIGN_OR_RETURN(live.partition,
                            PartitionTupleText(metadata, *spec, live.file.partition));
      FIRN_RETURN_NOT_OK(ReadKeyRange(workspace, metadata, live));
      files.push_back(std::move(live));
    }
  }
  std::ranges::stable_sort(files, {}, [](const LiveFile& live) {
    return std::tie(live.partition, live.first_key);
  });
  return files;
}

Json ToJson(const LiveFile& live) {
  return {{"path", live.file.file_path},
          {"partition", live.partition},
          {"rows", live.file.record_count},
          {"bytes", live.file.file_size_in_bytes},
          {"row_groups", live.file.split_offsets.size()},
          {"first_key", live.first_key},
          {"last_key", live.last_key}};
}

Json ToJson(const iceberg::Snapshot& snapshot) {
  return {{"snapshot_id", fmt::to_string(snapshot.snapshot_id)},
          {"sequence_number", snapshot.sequence_number.value()},
          {"timestamp_ms", snapshot.timestamp_ms},
          {"summary", snapshot.summary}};
}

void PrintTableText(const OpenTable& table) {
  const iceberg::TableMetadata& metadata = table.metadata();
  if (!table.identifier.name.empty()) fmt::print("table         {}\n", table.identifier);
  fmt::print("uuid          {}\nlocation      {}\nmetadata      {}\n",
             metadata.table_uuid, Printable(metadata.location),
             Printable(table.loaded.metadata_location));
  fmt::print("format        v{}\npartition by  {}\nsort by       {}\n\n",
             metadata.format_version, Printable(PartitionText(metadata)),
             Printable(SortText(metadata)));
  TextTable columns({{"id", Align::kRight}, {"column"}, {"type"}, {""}});
  for (const types::Field& field : CurrentSchema(metadata).fields) {
    columns.AddRow({fmt::format("{}", field.id), field.name, field.type.ToString(),
                    field.required ? "required" : ""});
  }
  fmt::print("{}", columns.ToString());
  if (!metadata.snapshots.empty()) fmt::print("\n{}", SnapshotsText(metadata));
  if (metadata.properties.empty()) return;
  fmt::print("\n");
  for (const auto& [name, value] : metadata.properties) {
    fmt::print("{} = {}\n", Printable(name), Printable(value));
  }
}

Json ColumnsJson(const types::Schema& schema) {
  Json columns = Json::array();
  for (const types::Field& field : schema.fields) {
    columns.push_back({{"id", field.id},
                       {"name", field.name},
                       {"type", field.type.ToString()},
                       {"required", field.required}});
  }
  return columns;
}

void PrintTable(const OpenTable& table, OutputFormat format) {
  if (format == OutputFormat::kText) {
    PrintTableText(table);
    return;
  }
  const iceberg::TableMetadata& metadata = table.metadata();
  const bool has_name = !table.identifier.name.empty();
  Json json = {{"table", has_name ? Json(ToString(table.identifier)) : Json(nullptr)},
               {"table_uuid", metadata.table_uuid.value()},
               {"location", metadata.location},
               {"metadata_location", table.loaded.metadata_location},
               {"format_version", metadata.format_version},
               {"partition_by", PartitionText(metadata)},
               {"sort_by", SortText(metadata)},
               {"columns", ColumnsJson(CurrentSchema(metadata))},
               {"properties", metadata.properties},
               {"snapshots", Json::array()}};
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    json["snapshots"].push_back(ToJson(snapshot));
  }
  PrintJson(json);
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

Status CheckNoFolder(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_directory(file, error)) return Status::OK();
  return InvalidError("{}: is a folder; name one of its files", file);
}

/// What never was metadata needs no backup.
Status CheckIsJson(const iceberg::FileIo& io, const std::string& path,
                   const std::string& file) {
  constexpr std::string_view kGzip = "\x1f\x8b";
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, io.Read(path));
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  const bool is_object = first != std::string::npos && bytes[first] == '{';
  if (is_object || bytes.empty() || bytes.starts_with(kGzip)) return Status::OK();
  return InvalidError("{}: is no metadata file of a table: it is no JSON object", file);
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
  FIRN_ASSIGN_OR_RETURN(const wal::SegmentFooter footer,
                        wal::DecodeFooter(file, parquet_footer));
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(file, footer));
  } else {
    PrintSegmentText(file, footer);
  }
  return Status::OK();
}

Status RunInspectTable(const CommandContext& context, const std::string& name,
                       OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, name));
  PrintTable(table, format);
  return Status::OK();
}

Status RunInspectMetadata(const CommandContext& context, const std::string& file,
                          OutputFormat format) {
  FIRN_RETURN_NOT_OK(CheckNoFolder(file));
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  const bool is_location = file.starts_with("file:/") || IsInS3(file);
  FIRN_ASSIGN_OR_RETURN(const std::string path, is_location ? file : AbsolutePath(file));
  // Of a file alone the table has no name.
  OpenTable table{.loaded = {.metadata_location = file}};
  const auto metadata = ReadTableMetadata(stores->file_io(), path);
  if (IsError(metadata.status(), ErrorKind::kNotFound)) {
    return Error(ErrorKind::kNotFound, "{}: no such file", file);
  }
  if (IsError(metadata.status(), ErrorKind::kCorruption)) {
    FIRN_RETURN_NOT_OK(CheckIsJson(stores->file_io(), path, file));
  }
  FIRN_ASSIGN_OR_RETURN(table.loaded.metadata, metadata);
  PrintTable(table, format);
  return Status::OK();
}

Status RunInspectFiles(const CommandContext& context, const std::string& name,
                       OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, name));
  FIRN_ASSIGN_OR_RETURN(const std::vector<LiveFile> files,
                        ListLiveFiles(*workspace, table.metadata()));
  if (format == OutputFormat::kJson) {
    Json json = Json::array();
    for (const LiveFile& file : files) json.push_back(ToJson(file));
    PrintJson(json);
    return Status::OK();
  }
  TextTable text({{"partition"},
                  {"rows", Align::kRight},
                  {"size", Align::kRight},
                  {"first key"},
                  {"last key"},
                  {"file", Align::kLeft, kNoLimit}});
  for (const LiveFile& live : files) {
    const std::string& path = live.file.file_path;
    text.AddRow({live.partition, FormatCount(live.file.record_count),
                 FormatBytes(live.file.file_size_in_bytes), live.first_key, live.last_key,
                 path.substr(path.rfind('/') + 1)});
  }
  fmt::print("{}", text.ToString());
  return Status::OK();
}

}  // namespace firn::cli
