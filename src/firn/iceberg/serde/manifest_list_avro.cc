#include "firn/iceberg/serde/manifest_list_avro.h"

#include <algorithm>
#include <map>
#include <utility>

#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/carried_fields.h"
#include "firn/iceberg/serde/manifest_fields.h"

namespace firn::iceberg {
namespace {

using serde::AddCarried;
using serde::AppendCarried;
using serde::Field;
using serde::Kind;
using serde::kManifestCodec;
using serde::Long;
using serde::Named;
using serde::Optional;
using serde::OptionalBytes;
using serde::OptionalField;
using serde::OptionalId;
using serde::OptionalLong;
using serde::Reader;
using serde::RecordField;
using serde::SchemaPtr;
using serde::UnknownFieldsOf;
using serde::Value;
using serde::Values;

constexpr Named kManifestPath{500, "manifest_path"};
constexpr Named kManifestLength{501, "manifest_length"};
constexpr Named kPartitionSpecId{502, "partition_spec_id"};
constexpr Named kManifestContent{517, "content"};
constexpr Named kManifestSequence{515, "sequence_number"};
constexpr Named kMinSequence{516, "min_sequence_number"};
constexpr Named kAddedSnapshotId{503, "added_snapshot_id"};
constexpr Named kAddedFiles{504, "added_files_count"};
constexpr Named kExistingFiles{505, "existing_files_count"};
constexpr Named kDeletedFiles{506, "deleted_files_count"};
constexpr Named kAddedRows{512, "added_rows_count"};
constexpr Named kExistingRows{513, "existing_rows_count"};
constexpr Named kDeletedRows{514, "deleted_rows_count"};
constexpr Named kPartitions{507, "partitions"};
constexpr FieldId kPartitionsElementId = 508;
constexpr Named kManifestKeyMetadata{519, "key_metadata"};
constexpr Named kManifestFirstRowId{520, "first_row_id"};

constexpr Named kContainsNull{509, "contains_null"};
constexpr Named kContainsNan{518, "contains_nan"};
constexpr Named kLowerBound{510, "lower_bound"};
constexpr Named kUpperBound{511, "upper_bound"};

constexpr Named kListFields[] = {
    kManifestPath,     kManifestLength, kPartitionSpecId,     kManifestContent,
    kManifestSequence, kMinSequence,    kAddedSnapshotId,     kAddedFiles,
    kExistingFiles,    kDeletedFiles,   kAddedRows,           kExistingRows,
    kDeletedRows,      kPartitions,     kManifestKeyMetadata, kManifestFirstRowId,
    kContainsNull,     kContainsNan,    kLowerBound,          kUpperBound};

bool IsRead(const RecordField& field) { return serde::IsAmong(kListFields, field); }

/// The fields that Firn does not know, and that a list carries along.
struct CarriedFields {
  std::vector<RecordField> of_manifest;
  std::vector<RecordField> of_summary;
};

const avro::Schema& WithoutUnion(const SchemaPtr& type) {
  return type->kind == Kind::kUnion ? *type->parts.back() : *type;
}

/// Of a list of this schema.
CarriedFields CarriedBy(const avro::Schema& list) {
  CarriedFields carried;
  AddCarried(list.fields, carried.of_manifest);
  for (const RecordField& field : list.fields) {
    if (!serde::IsAmong(std::span(&kPartitions, 1), field)) continue;
    const avro::Schema& array = WithoutUnion(field.type);
    if (array.kind != Kind::kArray) continue;
    AddCarried(WithoutUnion(array.parts[0]).fields, carried.of_summary);
  }
  return carried;
}

Status AddUnknown(const std::vector<ManifestFile>& manifests, CarriedFields& carried) {
  for (const ManifestFile& manifest : manifests) {
    FIRN_RETURN_NOT_OK(
        serde::AddUnknown(manifest.unknown_fields, IsRead, carried.of_manifest));
    if (!manifest.partitions) continue;
    for (const FieldSummary& summary : *manifest.partitions) {
      FIRN_RETURN_NOT_OK(
          serde::AddUnknown(summary.unknown_fields, IsRead, carried.of_summary));
    }
  }
  return Status::OK();
}

SchemaPtr ManifestFileSchema(std::int32_t format_version, const CarriedFields& carried) {
  std::vector<RecordField> summary_fields = {
      Field(kContainsNull, Kind::kBoolean), OptionalField(kContainsNan, Kind::kBoolean),
      OptionalField(kLowerBound, Kind::kBytes), OptionalField(kUpperBound, Kind::kBytes)};
  std::ranges::copy(carried.of_summary, std::back_inserter(summary_fields));
  SchemaPtr summary = avro::Record("r508", std::move(summary_fields));
  std::vector<RecordField> fields = {
      Field(kManifestPath, Kind::kString),
      Field(kManifestLength, Kind::kLong),
      Field(kPartitionSpecId, Kind::kInt),
      Field(kManifestContent, Kind::kInt),
      Field(kManifestSequence, Kind::kLong),
      Field(kMinSequence, Kind::kLong),
      Field(kAddedSnapshotId, Kind::kLong),
      Field(kAddedFiles, Kind::kInt),
      Field(kExistingFiles, Kind::kInt),
      Field(kDeletedFiles, Kind::kInt),
      Field(kAddedRows, Kind::kLong),
      Field(kExistingRows, Kind::kLong),
      Field(kDeletedRows, Kind::kLong),
      Field(kPartitions, Optional(avro::Array(std::move(summary), kPartitionsElementId))),
      OptionalField(kManifestKeyMetadata, Kind::kBytes)};
  if (HasRowLineage(format_version)) {
    fields.push_back(OptionalField(kManifestFirstRowId, Kind::kLong));
  }
  std::ranges::copy(carried.of_manifest, std::back_inserter(fields));
  return avro::Record("manifest_file", std::move(fields));
}

Result<Value> SummariesValue(const std::optional<std::vector<FieldSummary>>& summaries,
                             const CarriedFields& carried) {
  if (!summaries.has_value()) return Value{};
  Values values;
  for (const FieldSummary& summary : *summaries) {
    const Value contains_nan =
        summary.contains_nan.has_value() ? Value{*summary.contains_nan} : Value{};
    Values fields = {Value{summary.contains_null}, contains_nan,
                     OptionalBytes(summary.lower_bound),
                     OptionalBytes(summary.upper_bound)};
    FIRN_RETURN_NOT_OK(AppendCarried(carried.of_summary, summary.unknown_fields, fields));
    values.push_back({std::move(fields)});
  }
  return Value{std::move(values)};
}

bool HasCounts(const ManifestFile& manifest) {
  return manifest.added_files_count && manifest.existing_files_count &&
         manifest.deleted_files_count && manifest.added_rows_count &&
         manifest.existing_rows_count && manifest.deleted_rows_count;
}

Result<Value> ManifestFileValue(const ManifestFile& manifest, std::int32_t format_version,
                                const CarriedFields& carried) {
  FIRN_ASSIGN_OR_RETURN(Value summaries, SummariesValue(manifest.partitions, carried));
  Values values = {Value{manifest.manifest_path},
                   Long(manifest.manifest_length),
                   Long(manifest.partition_spec_id.value()),
                   Long(manifest.content),
                   OptionalId(manifest.sequence_number),
                   OptionalId(manifest.min_sequence_number),
                   Long(manifest.added_snapshot_id.value()),
                   Long(*manifest.added_files_count),
                   Long(*manifest.existing_files_count),
                   Long(*manifest.deleted_files_count),
                   Long(*manifest.added_rows_count),
                   Long(*manifest.existing_rows_count),
                   Long(*manifest.deleted_rows_count),
                   std::move(summaries),
                   OptionalBytes(manifest.key_metadata)};
  if (HasRowLineage(format_version)) {
    values.push_back(OptionalLong(manifest.first_row_id));
  }
  FIRN_RETURN_NOT_OK(AppendCarried(carried.of_manifest, manifest.unknown_fields, values));
  return Value{std::move(values)};
}

std::optional<std::vector<FieldSummary>> ToSummaries(Reader& reader) {
  const avro::Schema* type = nullptr;
  const Value* value = reader.Find(kPartitions.id, kPartitions.name, &type);
  if (value == nullptr) return std::nullopt;
  std::vector<FieldSummary> summaries;
  const Values* values = std::get_if<Values>(&value->data);
  if (values == nullptr || type->kind != Kind::kArray) {
    reader.Fail(kPartitions.name, "is not a list");
    return summaries;
  }
  const avro::Schema& element = WithoutUnion(type->parts[0]);
  for (const Value& summary : *values) {
    Reader fields(element, summary, kPartitions.name);
    summaries.push_back(
        {.contains_null = fields.Require<bool>(kContainsNull.id, kContainsNull.name),
         .contains_nan = fields.OptionalBoolOf(kContainsNan),
         .lower_bound = fields.OptionalStringOf(kLowerBound),
         .upper_bound = fields.OptionalStringOf(kUpperBound)});
    if (!fields.status().ok()) {
      reader.Fail(kPartitions.name, "is damaged");
      continue;
    }
    summaries.back().unknown_fields = UnknownFieldsOf(element, summary);
  }
  return summaries;
}

Result<ManifestFile> ToManifestFile(const avro::Schema& schema, const Value& value,
                                    std::int32_t format_version) {
  Reader reader(schema, value, "manifest_file");
  if (format_version > 1) {
    reader.RequireAll({kManifestSequence, kMinSequence, kManifestContent});
  }
  ManifestFile manifest{
      .manifest_path = reader.StringOf(kManifestPath),
      .manifest_length = reader.LongOf(kManifestLength),
      .partition_spec_id = PartitionSpecId(reader.IntOf(kPartitionSpecId)),
      .content = reader.EnumOf(kManifestContent, ManifestContent::kDeletes),
      .sequence_number =
          SnapshotSequence(reader.OptionalLongOf(kManifestSequence).value_or(0)),
      .min_sequence_number =
          SnapshotSequence(reader.OptionalLongOf(kMinSequence).value_or(0)),
      .added_snapshot_id = SnapshotId(reader.LongOf(kAddedSnapshotId)),
      .added_files_count = reader.OptionalIntOf(kAddedFiles),
      .existing_files_count = reader.OptionalIntOf(kExistingFiles),
      .deleted_files_count = reader.OptionalIntOf(kDeletedFiles),
      .added_rows_count = reader.OptionalLongOf(kAddedRows),
      .existing_rows_count = reader.OptionalLongOf(kExistingRows),
      .deleted_rows_count = reader.OptionalLongOf(kDeletedRows),
      .partitions = ToSummaries(reader),
      .key_metadata = reader.OptionalStringOf(kManifestKeyMetadata),
      .first_row_id = reader.OptionalLongOf(kManifestFirstRowId)};
  FIRN_RETURN_NOT_OK(reader.status());
  manifest.unknown_fields = UnknownFieldsOf(schema, value);
  return manifest;
}

/// What a new list has to carry: fields of the manifests, and of the list taken over.
Result<CarriedFields> CarriedAlong(const std::vector<ManifestFile>& manifests,
                                   const std::optional<avro::ContainerBlocks>& list) {
  CarriedFields carried;
  if (list) {
    FIRN_ASSIGN_OR_RETURN(const SchemaPtr schema,
                          avro::ParseSchema(list->schema_json(), IsRead));
    carried = CarriedBy(*schema);
  }
  FIRN_RETURN_NOT_OK(AddUnknown(manifests, carried));
  return carried;
}

}  // namespace

Result<bool> CanTakeOverManifestList(std::string_view bytes,
                                     std::int32_t format_version) {
  FIRN_ASSIGN_OR_RETURN(const avro::ContainerBlocks list, avro::ReadBlocks(bytes));
  FIRN_ASSIGN_OR_RETURN(const CarriedFields carried, CarriedAlong({}, list));
  return avro::ContainerWriter(ManifestFileSchema(format_version, carried),
                               kManifestCodec, {})
      .CanTakeOver(list);
}

Result<std::string> EncodeManifestList(const ManifestListHeader& header,
                                       const std::vector<ManifestFile>& manifests,
                                       std::string_view taken_over) {
  const std::string parent = header.parent_snapshot_id.has_value()
                                 ? fmt::format("{}", *header.parent_snapshot_id)
                                 : "null";
  std::map<std::string, std::string> about = {
      {"snapshot-id", fmt::format("{}", header.snapshot_id)},
      {"parent-snapshot-id", parent},
      {"sequence-number", fmt::format("{}", header.sequence_number)},
      {"format-version", fmt::format("{}", header.format_version)}};
  if (header.first_row_id)
    about["first-row-id"] = fmt::format("{}", *header.first_row_id);
  std::optional<avro::ContainerBlocks> list;
  if (!taken_over.empty()) {
    FIRN_ASSIGN_OR_RETURN(list, avro::ReadBlocks(taken_over));
  }
  FIRN_ASSIGN_OR_RETURN(const CarriedFields carried, CarriedAlong(manifests, list));
  avro::ContainerWriter writer(ManifestFileSchema(header.format_version, carried),
                               kManifestCodec, about);
  for (const ManifestFile& manifest : manifests) {
    if (!HasCounts(manifest)) {
      return InvalidError(
          "manifest {} was listed without file counts, which format version {} requires: "
          "rewrite the table's manifests first",
          manifest.manifest_path, header.format_version);
    }
    FIRN_ASSIGN_OR_RETURN(const Value line,
                          ManifestFileValue(manifest, header.format_version, carried));
    writer.Add(line);
  }
  if (list) FIRN_RETURN_NOT_OK(writer.TakeOver(*list));
  return writer.Finish();
}

Result<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes) {
  FIRN_ASSIGN_OR_RETURN(avro::Container container, avro::ReadContainer(bytes, IsRead));
  const std::int32_t version = serde::VersionOf(container.metadata);
  std::vector<ManifestFile> manifests;
  manifests.reserve(container.values.size());
  for (const Value& value : container.values) {
    FIRN_ASSIGN_OR_RETURN(ManifestFile manifest,
                          ToManifestFile(*container.schema, value, version));
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

}  // namespace firn::iceberg
