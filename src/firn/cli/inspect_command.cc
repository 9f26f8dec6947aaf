#include <tuple>

#include <arrow/util/key_value_metadata.h>
#include <parquet/metadata.h>

#include "firn/cli/commands.h"
#include "firn/cli/file_text.h"
#include "firn/cli/inspect_snapshots_command.h"
#include "firn/cli/json_output.h"
#include "firn/cli/key_text.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/terminal.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/core/base64.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/shift/chunk_writer.h"

namespace firn::cli {
namespace {

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

std::string OrNone(const std::string& text) {
  return text.empty() ? "none" : Printable(text);
}

void PrintTableText(const OpenTable& table) {
  const iceberg::TableMetadata& metadata = table.metadata();
  if (!table.identifier.name.empty()) fmt::print("table         {}\n", table.identifier);
  fmt::print("uuid          {}\nlocation      {}\nmetadata      {}\n",
             metadata.table_uuid, Printable(metadata.location),
             Printable(table.loaded.metadata_location));
  fmt::print("format        v{}\npartition by  {}\nsort by       {}\n\n",
             metadata.format_version, OrNone(PartitionText(metadata)),
             OrNone(SortText(metadata)));
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
  if (files.empty()) {
    fmt::print("{} has no data files\n", table.identifier);
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
