#include "firn/iceberg/io/manifest_io.h"

#include <algorithm>
#include <utility>

#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/iceberg/metadata/partition_summary.h"
#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/manifest_avro.h"
#include "firn/iceberg/serde/manifest_list_avro.h"

namespace firn::iceberg {
namespace {

using types::TypeKind;

struct SpecAndTypes {
  const types::PartitionSpec* spec;
  std::vector<types::Type> types;
};

Result<SpecAndTypes> ResolveSpec(const TableMetadata& metadata, PartitionSpecId id) {
  const types::PartitionSpec* spec = FindSpec(metadata, id);
  if (spec == nullptr) {
    return InvalidError("table at {} has no partition spec {}", metadata.location, id);
  }
  FIRN_ASSIGN_OR_RETURN(auto types,
                        types::PartitionTypes(*spec, SchemaFor(metadata, *spec)));
  return SpecAndTypes{spec, std::move(types)};
}

bool Fits(const types::Value& value, const types::Type& type) {
  if (types::IsNull(value)) return true;
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return std::holds_alternative<bool>(value);
    case TypeKind::kInt:
    case TypeKind::kDate:
      return std::holds_alternative<std::int32_t>(value);
    case TypeKind::kFloat:
      return std::holds_alternative<float>(value);
    case TypeKind::kDouble:
      return std::holds_alternative<double>(value);
    case TypeKind::kDecimal:
      return std::holds_alternative<types::DecimalValue>(value);
    case TypeKind::kUuid:
    case TypeKind::kFixed: {
      const auto* bytes = std::get_if<std::string>(&value);
      const std::size_t length =
          type.kind() == TypeKind::kUuid ? 16 : static_cast<std::size_t>(type.length());
      return bytes != nullptr && bytes->size() == length;
    }
    case TypeKind::kString:
    case TypeKind::kBinary:
      return std::holds_alternative<std::string>(value);
    default:
      return std::holds_alternative<std::int64_t>(value);
  }
}

Status CheckTuple(const SpecAndTypes& resolved, const DataFile& file) {
  const auto& [spec, types] = resolved;
  if (file.partition.size() != types.size()) {
    return InvalidError("{}: {} partition values, but partition spec {} has {} fields",
                        file.file_path, file.partition.size(), spec->id, types.size());
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (Fits(file.partition[i], types[i])) continue;
    return InvalidError("{}: the value of partition field '{}' is no {}", file.file_path,
                        spec->fields[i].name, types[i].ToString());
  }
  return Status::OK();
}

Status CheckFile(const SpecAndTypes& resolved, const DataFile& file) {
  if (file.content != FileContent::kData) {
    return InvalidError("{}: a delete file cannot be appended", file.file_path);
  }
  if (file.partition_spec_id != resolved.spec->id) {
    return InvalidError("{}: is of partition spec {}, its manifest of {}", file.file_path,
                        file.partition_spec_id, resolved.spec->id);
  }
  return CheckTuple(resolved, file);
}

Status CheckIsWhole(const ManifestEntry& entry) {
  if (entry.unknown_field.empty()) return Status::OK();
  return InvalidError(
      "{}: its manifest entry has a field that Firn does not know, and would lose if it "
      "wrote the entry anew: change it with the engine that wrote it (field '{}')",
      entry.data_file.file_path, entry.unknown_field);
}

/// The line for the manifest list, all counts being 0.
Result<ManifestFile> WriteEntries(const FileIo& io, const TableMetadata& metadata,
                                  const NewManifest& manifest,
                                  const std::vector<ManifestEntry>& entries) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  FIRN_ASSIGN_OR_RETURN(const SpecAndTypes resolved,
                        ResolveSpec(metadata, manifest.partition_spec_id));
  std::vector<DataFile> files;
  for (const ManifestEntry& entry : entries) {
    FIRN_RETURN_NOT_OK(CheckFile(resolved, entry.data_file));
    FIRN_RETURN_NOT_OK(CheckIsWhole(entry));
    files.push_back(entry.data_file);
  }
  FIRN_ASSIGN_OR_RETURN(
      const std::string bytes,
      EncodeManifest({CurrentSchema(metadata), *resolved.spec, resolved.types,
                      metadata.format_version, manifest.unknown_properties},
                     entries));
  FIRN_RETURN_NOT_OK(io.WriteNew(manifest.location, bytes));
  return ManifestFile{.manifest_path = manifest.location,
                      .manifest_length = static_cast<std::int64_t>(bytes.size()),
                      .partition_spec_id = manifest.partition_spec_id,
                      .content = ManifestContent::kData,
                      .sequence_number = std::nullopt,
                      .min_sequence_number = std::nullopt,
                      .added_snapshot_id = manifest.snapshot_id,
                      .added_files_count = 0,
                      .existing_files_count = 0,
                      .deleted_files_count = 0,
                      .added_rows_count = 0,
                      .existing_rows_count = 0,
                      .deleted_rows_count = 0,
                      .partitions = SummarizePartitions(resolved.types, files),
                      .key_metadata = std::nullopt,
                      .first_row_id = std::nullopt};
}

void Inherit(const ManifestFile& manifest, ManifestEntry& entry) {
  if (!entry.snapshot_id.has_value()) entry.snapshot_id = manifest.added_snapshot_id;
  // Only an added file inherits; version 1 has no numbers at all, and 0 for all of them.
  const bool inherits = entry.status == EntryStatus::kAdded ||
                        manifest.sequence_number == SnapshotSequence(0);
  if (!inherits) return;
  if (!entry.sequence_number) entry.sequence_number = manifest.sequence_number;
  if (!entry.file_sequence_number) entry.file_sequence_number = manifest.sequence_number;
}

/// Only an added file may do without; whoever copies the others needs their numbers.
Status CheckHasSequence(const ManifestFile& manifest, const ManifestEntry& entry) {
  if (entry.sequence_number || entry.status == EntryStatus::kAdded) return Status::OK();
  return Error(ErrorKind::kCorruption,
               "{}: the entry of {} has no sequence number, though the manifest did not "
               "add the file",
               manifest.manifest_path, entry.data_file.file_path);
}

}  // namespace

Result<std::vector<ManifestFile>> ReadManifestList(const FileIo& io,
                                                   std::string_view location) {
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, io.Read(location));
  auto manifests = DecodeManifestList(bytes);
  if (!manifests.ok()) return AddContext(manifests.status(), location);
  return manifests;
}

Result<std::vector<ManifestEntry>> ReadManifest(const FileIo& io,
                                                const TableMetadata& metadata,
                                                const ManifestFile& manifest) {
  FIRN_ASSIGN_OR_RETURN(WholeManifest whole, ReadWholeManifest(io, metadata, manifest));
  return std::move(whole.entries);
}

Result<WholeManifest> ReadWholeManifest(const FileIo& io, const TableMetadata& metadata,
                                        const ManifestFile& manifest) {
  FIRN_ASSIGN_OR_RETURN(const SpecAndTypes resolved,
                        ResolveSpec(metadata, manifest.partition_spec_id));
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, io.Read(manifest.manifest_path));
  auto entries = DecodeManifest(bytes, *resolved.spec, resolved.types);
  if (!entries.ok()) return AddContext(entries.status(), manifest.manifest_path);
  for (ManifestEntry& entry : *entries) {
    Inherit(manifest, entry);
    FIRN_RETURN_NOT_OK(CheckHasSequence(manifest, entry));
  }
  FIRN_RETURN_NOT_OK(
      AddContext(InheritRowIds(manifest, *entries), manifest.manifest_path));
  FIRN_ASSIGN_OR_RETURN(ManifestProperties properties, DecodeUnknownProperties(bytes));
  return WholeManifest{.entries = *std::move(entries),
                       .unknown_properties = std::move(properties)};
}

Status CheckDataFile(const TableMetadata& metadata, const DataFile& file) {
  Result<SpecAndTypes> resolved = ResolveSpec(metadata, file.partition_spec_id);
  if (!resolved.ok()) return AddContext(resolved.status(), file.file_path);
  return CheckFile(*resolved, file);
}

Result<std::string> PartitionPathOf(const TableMetadata& metadata, const DataFile& file) {
  const Result<SpecAndTypes> resolved = ResolveSpec(metadata, file.partition_spec_id);
  if (!resolved.ok()) return AddContext(resolved.status(), file.file_path);
  FIRN_RETURN_NOT_OK(CheckFile(*resolved, file));
  return types::PartitionPath(*resolved->spec, resolved->types, file.partition);
}

Result<ManifestFile> WriteManifest(const FileIo& io, const TableMetadata& metadata,
                                   const NewManifest& manifest,
                                   const std::vector<DataFile>& files) {
  std::vector<ManifestEntry> entries;
  for (const DataFile& file : files) {
    entries.push_back({.status = EntryStatus::kAdded,
                       .snapshot_id = manifest.snapshot_id,
                       .sequence_number = std::nullopt,
                       .file_sequence_number = std::nullopt,
                       .data_file = file});
  }
  FIRN_ASSIGN_OR_RETURN(ManifestFile line, WriteEntries(io, metadata, manifest, entries));
  line.added_files_count = static_cast<std::int32_t>(files.size());
  for (const DataFile& file : files) *line.added_rows_count += file.record_count;
  return line;
}

Result<ManifestFile> RewriteManifest(const FileIo& io, const TableMetadata& metadata,
                                     const NewManifest& manifest,
                                     const std::vector<ManifestEntry>& entries) {
  FIRN_ASSIGN_OR_RETURN(ManifestFile line, WriteEntries(io, metadata, manifest, entries));
  for (const ManifestEntry& entry : entries) {
    FIRN_CHECK(entry.status != EntryStatus::kAdded && entry.sequence_number);
    if (entry.status == EntryStatus::kDeleted) {
      ++*line.deleted_files_count;
      *line.deleted_rows_count += entry.data_file.record_count;
      continue;
    }
    ++*line.existing_files_count;
    *line.existing_rows_count += entry.data_file.record_count;
    line.min_sequence_number =
        std::min(line.min_sequence_number.value_or(*entry.sequence_number),
                 *entry.sequence_number);
  }
  return line;
}

Result<std::string> WriteManifestList(const FileIo& io, const NewManifestList& list,
                                      std::vector<ManifestFile> manifests,
                                      std::string_view taken_over) {
  for (ManifestFile& manifest : manifests) {
    if (!manifest.sequence_number) manifest.sequence_number = list.sequence_number;
    if (!manifest.min_sequence_number) {
      manifest.min_sequence_number = manifest.sequence_number;
    }
  }
  FIRN_ASSIGN_OR_RETURN(std::string bytes,
                        EncodeManifestList({.snapshot_id = list.snapshot_id,
                                            .parent_snapshot_id = list.parent_snapshot_id,
                                            .sequence_number = list.sequence_number,
                                            .format_version = list.format_version,
                                            .first_row_id = list.first_row_id},
                                           manifests, taken_over));
  FIRN_RETURN_NOT_OK(io.WriteNew(list.location, bytes));
  return bytes;
}

}  // namespace firn::iceberg
