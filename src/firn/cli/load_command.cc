#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/progress.h"
#include "firn/cli/shift_command.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/sources/files/csv_source.h"
#include "firn/sources/files/schema_inference.h"
#include "firn/wal/admission.h"
#include "firn/wal/load_manifest.h"
#include "firn/wal/table_buffer.h"
#include "firn/wal/wal_reader.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

sources::CsvOptions CsvOptionsOf(const LoadArguments& arguments) {
  sources::CsvOptions options;
  for (const std::string& text : arguments.null_values) {
    options.null_spellings.push_back(text);
  }
  return options;
}

/// The files as a load names them for good: absolute, with their sizes.
Result<wal::LoadManifest> ManifestOf(const std::vector<std::string>& files) {
  wal::LoadManifest manifest;
  for (const std::string& file : files) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status)) {
      return Error(ErrorKind::kNotFound, "{}: no such file", file);
    }
    if (!std::filesystem::is_regular_file(status)) {
      return InvalidError("{}: not a regular file; name the files in it", file);
    }
    const auto size = std::filesystem::file_size(file, error);
    if (error) return InvalidError("{}: {}", file, error.message());
    FIRN_ASSIGN_OR_RETURN(std::string path, AbsolutePath(file));
    manifest.files.push_back(
        {.path = std::move(path), .size_bytes = static_cast<std::int64_t>(size)});
  }
  return manifest;
}

/// The columns of all files, from all of their values.
Result<types::Schema> InferSchema(const CommandContext& context,
                                  const LoadArguments& arguments) {
  sources::SchemaInference inference;
  Progress progress(context.runtime, "finding columns and types", 0);
  std::int64_t rows = 0;
  for (const std::string& file : arguments.files) {
    FIRN_ASSIGN_OR_RETURN(auto reader,
                          sources::CsvReader::Open(file, CsvOptionsOf(arguments)));
    while (true) {
      FIRN_RETURN_NOT_OK(context.stop.Check());
      FIRN_ASSIGN_OR_RETURN(const auto batch, reader.Next());
      if (batch == nullptr) break;
      inference.Add(*batch);
      rows += batch->num_rows();
      progress.Update(rows, FormatCount(rows) + " rows read");
    }
  }
  if (rows == 0) {
    return InvalidError(
        "{}: no records to tell the columns' types from; make the table with 'firn table "
        "create'",
        arguments.files.front());
  }
  return inference.Finish();
}

/// Reads every record once before the first is durable: a load lands whole, or not at
/// all.
Status CheckRecords(const CommandContext& context, const sources::CsvLoad& load) {
  FIRN_ASSIGN_OR_RETURN(const auto source, sources::CsvSource::Make(load));
  Progress progress(context.runtime, "checking records", 0);
  std::int64_t rows = 0;
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const auto batch, source->Next(context.stop));
    if (!batch) return Status::OK();
    rows += batch->delivery.rows->num_rows();
    progress.Update(rows, FormatCount(rows) + " rows");
  }
}

/// The table, made from the files if it is missing and --create allows it.
Result<OpenTable> FindOrCreate(Workspace& workspace, const CommandContext& context,
                               const LoadArguments& arguments) {
  auto found = FindTable(workspace, arguments.table);
  if (!arguments.create || !IsError(found.status(), ErrorKind::kNotFound)) return found;
  FIRN_ASSIGN_OR_RETURN(types::Schema schema, InferSchema(context, arguments));
  auto created = CreateTable(workspace, arguments.table,
                             {.schema = std::move(schema),
                              .partition_by = arguments.partition_by,
                              .sort_by = arguments.sort_by});
  // Another load may have made it meanwhile.
  if (IsError(created.status(), ErrorKind::kAlreadyExists)) {
    return FindTable(workspace, arguments.table);
  }
  return created;
}

/// --partition-by and --sort-by describe a new table; against one that is there they must
/// say the same.
Status CheckLayout(const OpenTable& table, const LoadArguments& arguments) {
  const types::Schema& schema = CurrentSchema(table.metadata());
  if (!arguments.partition_by.empty()) {
    const auto spec = types::ParsePartitionSpec(arguments.partition_by, schema);
    FIRN_RETURN_NOT_OK(AsUsageError(AddContext(spec.status(), "--partition-by")));
    const auto same = [](const types::PartitionField& a, const types::PartitionField& b) {
      return a.source_id == b.source_id && a.transform == b.transform;
    };
    if (!std::ranges::equal(spec->fields, DefaultSpec(table.metadata()).fields, same)) {
      return AsUsageError(InvalidError(
          "{} is partitioned by '{}', not by '{}'; leave --partition-by out",
          table.identifier, PartitionText(table.metadata()), arguments.partition_by));
    }
  }
  if (arguments.sort_by.empty()) return Status::OK();
  const auto order = order::ParseSortOrder(arguments.sort_by, schema);
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(order.status(), "--sort-by")));
  if (order->fields != DefaultSortOrder(table.metadata()).fields) {
    return AsUsageError(
        InvalidError("{} is sorted by '{}', not by '{}'; leave --sort-by out",
                     table.identifier, SortText(table.metadata()), arguments.sort_by));
  }
  return Status::OK();
}

/// Freezes the file list under the load's id. Invalid if the load was begun with another
/// one.
Status Freeze(Workspace& workspace, const OpenTable& table, const std::string& id,
              const wal::LoadManifest& manifest) {
  FIRN_ASSIGN_OR_RETURN(
      const wal::LoadManifest frozen,
      wal::FreezeLoad(workspace.wal_store(), table.metadata().table_uuid, id, manifest));
  if (frozen == manifest) return Status::OK();
  for (std::size_t i = 0; i < frozen.files.size(); ++i) {
    const wal::LoadFile& file = frozen.files[i];
    if (i < manifest.files.size() && manifest.files[i] == file) continue;
    return InvalidError(
        "load {} was begun with {} ({} bytes) as file {}, and now that is {}; name the "
        "same, unchanged files, or load under another id",
        id, file.path, file.size_bytes, i + 1,
        i < manifest.files.size() ? fmt::format("{} ({} bytes)", manifest.files[i].path,
                                                manifest.files[i].size_bytes)
                                  : "missing");
  }
  return InvalidError(
      "load {} was begun with {} files, not {}; load the others under "
      "another id",
      id, frozen.files.size(), manifest.files.size());
}

/// Records of each file of the load that the table or the WAL holds already.
Result<std::map<std::size_t, std::int64_t>> DurableRecords(Workspace& workspace,
                                                           const OpenTable& table,
                                                           const WalId& wal_id,
                                                           const std::string& id,
                                                           std::size_t files) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded,
                        workspace.catalog().LoadTable(table.identifier));
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(loaded.metadata, wal_id));
  wal::WalReader reader(workspace.runtime(), workspace.wal_store());
  FIRN_ASSIGN_OR_RETURN(
      const auto listing,
      reader.ListSegments(loaded.metadata.table_uuid, positions.reached));
  // What admission will take is what need not be read again.
  const wal::Admission admission =
      Admit(positions.reached, listing, std::numeric_limits<std::int64_t>::max());
  std::map<std::size_t, std::int64_t> records;
  for (std::size_t i = 0; i < files; ++i) {
    const auto next = admission.next.sources.find(wal::LoadSourceId(id, i));
    if (next != admission.next.sources.end()) records[i] = next->second;
  }
  return records;
}

/// First part of a shard's name: the host's name as far as it can be part of a key.
std::string NodeName() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) != 0 || name[0] == '\0') return "node";
  std::string node;
  for (const char c : std::string_view(name)) {
    node.push_back(std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-');
  }
  return node.front() == '-' ? "n" + node : node;
}

wal::TableBufferOptions BufferOptions(const Config& config) {
  wal::TableBufferOptions options{.flush_bytes = config.wal.flush_bytes,
                                  .flush_age = config.wal.flush_age};
  options.segment.row_group_bytes = config.wal.row_group_bytes;
  options.shard = {.node = NodeName(), .dead_after = config.wal.dead_after};
  return options;
}

/// What became durable.
struct WalFill {
  wal::TableBufferCounts counts;
  /// Where each source stood in the end.
  std::map<std::string, std::int64_t> reached;
};

/// Reads the source to its end, and makes every record durable.
Result<WalFill> FillWal(Workspace& workspace, const OpenTable& table,
                        sources::Source& source, const StopToken& stop) {
  Runtime& runtime = workspace.runtime();
  FIRN_ASSIGN_OR_RETURN(
      const auto buffer,
      wal::TableBuffer::Make(runtime, workspace.memory(), workspace.wal_store(),
                             LayoutOf(table.metadata()),
                             BufferOptions(workspace.config())));
  Progress progress(runtime, fmt::format("load {}", table.identifier), 0);
  WalFill fill;
  std::int64_t rows = 0;
  while (true) {
    FIRN_ASSIGN_OR_RETURN(std::optional<sources::SourceBatch> batch, source.Next(stop));
    if (!batch) break;
    rows += batch->delivery.rows->num_rows();
    fill.reached[batch->delivery.range->source] = batch->delivery.range->next;
    FIRN_RETURN_NOT_OK(buffer->Append(std::move(batch->delivery), stop));
    FIRN_RETURN_NOT_OK(buffer->FlushIfDue());
    progress.Update(rows, FormatCount(rows) + " rows");
  }
  FIRN_RETURN_NOT_OK(buffer->Close());
  fill.counts = buffer->counts();
  return fill;
}

void PrintDurable(const OpenTable& table, const std::string& id,
                  const wal::TableBufferCounts& counts, Duration duration) {
  if (counts.rows == 0) {
    fmt::print("{}: nothing to add, every record of load {} is durable already\n",
               table.identifier, id);
    return;
  }
  fmt::print("{}: {} rows durable in {} segments, {}, in {}\n", table.identifier,
             FormatCount(counts.rows), FormatCount(counts.segments),
             FormatBytes(counts.segment_bytes), FormatDuration(duration));
}

/// Fails if the table, as it is now, does not cover all that is in `reached`.
Status CheckInTable(Workspace& workspace, const OpenTable& table, const WalId& wal_id,
                    const std::map<std::string, std::int64_t>& reached) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded,
                        workspace.catalog().LoadTable(table.identifier));
  const TableUuid& uuid = table.metadata().table_uuid;
  if (loaded.metadata.table_uuid != uuid) {
    return InvalidError(
        "table {} was dropped and made anew while records were loaded into it; they stay "
        "in the WAL of the dropped one: load them again (uuid {}, now {})",
        table.identifier, uuid, loaded.metadata.table_uuid);
  }
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(loaded.metadata, wal_id));
  for (const auto& [source, next] : reached) {
    const auto found = positions.reached.sources.find(source);
    const std::int64_t landed =
        found == positions.reached.sources.end() ? 0 : found->second;
    if (landed >= next) continue;
    return InvalidError(
        "{} of {} records of {} are in {}, the others wait in the WAL (durable); 'firn "
        "inspect wal {}' shows why",
        landed, next, source, table.identifier, table.identifier);
  }
  return Status::OK();
}

}  // namespace

Status RunLoad(const CommandContext& context, const LoadArguments& arguments) {
  const std::string id = arguments.id.value_or(NewUlid(context.runtime));
  FIRN_RETURN_NOT_OK(AsUsageError(wal::CheckLoadId(id)));
  FIRN_ASSIGN_OR_RETURN(const wal::LoadManifest manifest, ManifestOf(arguments.files));
  FIRN_ASSIGN_OR_RETURN(
      const auto workspace,
      Workspace::Open(context.config, context.runtime, WorkspaceMode::kCreate));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table,
                        FindOrCreate(*workspace, context, arguments));
  // What cannot be shifted must not be acknowledged.
  FIRN_RETURN_NOT_OK(CheckWritable(table.metadata()));
  FIRN_RETURN_NOT_OK(CheckLayout(table, arguments));
  FIRN_RETURN_NOT_OK(wal::CheckOutsideTable(workspace->wal_store().Location(""),
                                            table.metadata().location));
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id,
                        wal::OpenWalRoot(context.runtime, workspace->wal_store()));
  FIRN_RETURN_NOT_OK(Freeze(*workspace, table, id, manifest));
  if (!arguments.id) fmt::print(stderr, "load {}\n", id);

  FIRN_ASSIGN_OR_RETURN(const auto durable, DurableRecords(*workspace, table, wal_id, id,
                                                           manifest.files.size()));
  const sources::CsvLoad load = {.table = arguments.table,
                                 .load_id = id,
                                 .files = arguments.files,
                                 .first_records = durable,
                                 .schema = CurrentSchema(table.metadata()),
                                 .csv = CsvOptionsOf(arguments)};
  FIRN_RETURN_NOT_OK(CheckRecords(context, load));
  FIRN_ASSIGN_OR_RETURN(const auto source, sources::CsvSource::Make(load));
  const BootTime begin = context.runtime.SinceBoot();
  FIRN_ASSIGN_OR_RETURN(WalFill fill, FillWal(*workspace, table, *source, context.stop));
  FIRN_RETURN_NOT_OK(
      wal::EndLoad(workspace->wal_store(), table.metadata().table_uuid, id));
  PrintDurable(table, id, fill.counts, context.runtime.SinceBoot() - begin);
  if (arguments.wal_only) return Status::OK();
  FIRN_RETURN_NOT_OK(ShiftAndReport(*workspace, table, context.stop));
  for (const auto& [file, records] : durable) {
    fill.reached.try_emplace(wal::LoadSourceId(id, file), records);
  }
  return CheckInTable(*workspace, table, wal_id, fill.reached);
}

}  // namespace firn::cli
