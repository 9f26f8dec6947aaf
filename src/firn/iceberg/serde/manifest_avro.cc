#include "firn/iceberg/serde/manifest_avro.h"

#include <algorithm>
#include <span>
#include <utility>

#include "firn/core/whole_number.h"
#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/manifest_fields.h"
#include "firn/iceberg/serde/partition_avro.h"
#include "firn/iceberg/serde/schema_json.h"

namespace firn::iceberg {
namespace {

using serde::Field;
using serde::Kind;
using serde::kManifestCodec;
using serde::Long;
using serde::Named;
using serde::NamedMap;
using serde::Optional;
using serde::OptionalBytes;
using serde::OptionalField;
using serde::OptionalId;
using serde::OptionalLong;
using serde::Primitive;
using serde::Reader;
using serde::RecordField;
using serde::SchemaPtr;
using serde::ToId;
using serde::Value;
using serde::Values;

constexpr Named kStatus{0, "status"};
constexpr Named kSnapshotId{1, "snapshot_id"};
constexpr Named kSequenceNumber{3, "sequence_number"};
constexpr Named kFileSequenceNumber{4, "file_sequence_number"};
constexpr Named kDataFile{2, "data_file"};

constexpr Named kContent{134, "content"};
constexpr Named kFilePath{100, "file_path"};
constexpr Named kFileFormat{101, "file_format"};
constexpr Named kPartition{102, "partition"};
constexpr Named kRecordCount{103, "record_count"};
constexpr Named kFileSize{104, "file_size_in_bytes"};
constexpr Named kKeyMetadata{131, "key_metadata"};
constexpr Named kSplitOffsets{132, "split_offsets"};
constexpr FieldId kSplitOffsetId = 133;
constexpr Named kEqualityIds{135, "equality_ids"};
constexpr FieldId kEqualityId = 136;
constexpr Named kSortOrderId{140, "sort_order_id"};
constexpr Named kFirstRowId{142, "first_row_id"};
constexpr Named kReferencedDataFile{143, "referenced_data_file"};

constexpr NamedMap kColumnSizes{{108, "column_sizes"}, 117, 118};
constexpr NamedMap kValueCounts{{109, "value_counts"}, 119, 120};
constexpr NamedMap kNullValueCounts{{110, "null_value_counts"}, 121, 122};
constexpr NamedMap kNanValueCounts{{137, "nan_value_counts"}, 138, 139};
constexpr NamedMap kLowerBounds{{125, "lower_bounds"}, 126, 127};
constexpr NamedMap kUpperBounds{{128, "upper_bounds"}, 129, 130};

/// What an entry, and its file, may have. Of those that are not written, one is for
/// deletes alone, the others are "deprecated, do not write".
constexpr Named kEntryFields[] = {kStatus, kSnapshotId, kSequenceNumber,
                                  kFileSequenceNumber, kDataFile};
constexpr Named kDataFileFields[] = {
    kContent,
    kFilePath,
    kFileFormat,
    kPartition,
    kRecordCount,
    kFileSize,
    kColumnSizes.field,
    kValueCounts.field,
    kNullValueCounts.field,
    kNanValueCounts.field,
    kLowerBounds.field,
    kUpperBounds.field,
    kKeyMetadata,
    kSplitOffsets,
    kEqualityIds,
    kSortOrderId,
    kFirstRowId,
    kReferencedDataFile,
    {105, "block_size_in_bytes"},
    {111, "distinct_counts"},
    {112, "file_ordinal"},
    {113, "sort_columns"},
};

/// What a header says, after the spec; and what Java's library says: the Avro schema in
/// Iceberg's form.
constexpr std::string_view kHeaderProperties[] = {
    "schema",         "schema-id", "partition-spec", "partition-spec-id",
    "format-version", "content",   "iceberg.schema"};
constexpr std::string_view kAvroPrefix = "avro.";

constexpr const char* kMapAttribute = "\"logicalType\": \"map\"";

/// Avro's own maps have string keys only: the spec keeps others as arrays of pairs.
RecordField MapField(const NamedMap& map, Kind value) {
  SchemaPtr pair = avro::Record(
      fmt::format("k{}_v{}", map.key_id, map.value_id),
      {Field({map.key_id, "key"}, Kind::kInt), Field({map.value_id, "value"}, value)});
  return Field(map.field,
               Optional(avro::Array(std::move(pair), std::nullopt, kMapAttribute)));
}

SchemaPtr DataFileSchema(SchemaPtr partition, std::int32_t format_version) {
  std::vector<RecordField> fields = {
      Field(kContent, Kind::kInt),
      Field(kFilePath, Kind::kString),
      Field(kFileFormat, Kind::kString),
      Field(kPartition, std::move(partition)),
      Field(kRecordCount, Kind::kLong),
      Field(kFileSize, Kind::kLong),
      MapField(kColumnSizes, Kind::kLong),
      MapField(kValueCounts, Kind::kLong),
      MapField(kNullValueCounts, Kind::kLong),
      MapField(kNanValueCounts, Kind::kLong),
      MapField(kLowerBounds, Kind::kBytes),
      MapField(kUpperBounds, Kind::kBytes),
      OptionalField(kKeyMetadata, Kind::kBytes),
      Field(kSplitOffsets, Optional(avro::Array(Primitive(Kind::kLong), kSplitOffsetId))),
      Field(kEqualityIds, Optional(avro::Array(Primitive(Kind::kInt), kEqualityId))),
      OptionalField(kSortOrderId, Kind::kInt)};
  if (HasRowLineage(format_version)) {
    fields.push_back(OptionalField(kFirstRowId, Kind::kLong));
  }
  return avro::Record("r2", std::move(fields));
}

SchemaPtr EntrySchema(SchemaPtr partition, std::int32_t format_version) {
  return avro::Record(
      "manifest_entry",
      {Field(kStatus, Kind::kInt), OptionalField(kSnapshotId, Kind::kLong),
       OptionalField(kSequenceNumber, Kind::kLong),
       OptionalField(kFileSequenceNumber, Kind::kLong),
       Field(kDataFile, DataFileSchema(std::move(partition), format_version))});
}

Value ToValue(std::int64_t number) { return {number}; }
Value ToValue(const std::string& bytes) { return {bytes}; }

/// An empty map is left out: it says no more.
template <typename Metric>
Value MapValue(const std::map<FieldId, Metric>& map) {
  if (map.empty()) return {};
  Values pairs;
  for (const auto& [id, metric] : map)
    pairs.push_back({Values{Long(id), ToValue(metric)}});
  return {std::move(pairs)};
}

template <typename Number>
Value ListValue(const std::vector<Number>& numbers) {
  if (numbers.empty()) return {};
  Values values;
  for (const Number number : numbers) values.push_back(Long(number));
  return {std::move(values)};
}

Value DataFileValue(const DataFile& file, const ManifestContext& context) {
  Values values = {Long(file.content),
                   Value{file.file_path},
                   Value{file.file_format},
                   PartitionToAvro(file.partition, context.partition_types),
                   Long(file.record_count),
                   Long(file.file_size_in_bytes),
                   MapValue(file.column_sizes),
                   MapValue(file.value_counts),
                   MapValue(file.null_value_counts),
                   MapValue(file.nan_value_counts),
                   MapValue(file.lower_bounds),
                   MapValue(file.upper_bounds),
                   OptionalBytes(file.key_metadata),
                   ListValue(file.split_offsets),
                   ListValue(file.equality_ids),
                   OptionalId(file.sort_order_id)};
  if (HasRowLineage(context.format_version)) {
    values.push_back(OptionalLong(file.first_row_id));
  }
  return {std::move(values)};
}

Value EntryValue(const ManifestEntry& entry, const ManifestContext& context) {
  return {Values{Long(entry.status), OptionalId(entry.snapshot_id),
                 OptionalId(entry.sequence_number),
                 OptionalId(entry.file_sequence_number),
                 DataFileValue(entry.data_file, context)}};
}

/// The name of the first field that has a value and is none of `known`; empty if there is
/// none. REQUIRES: `value` is a record of this schema.
std::string UnknownField(const avro::Schema& schema, const Value& value,
                         std::span<const Named> known) {
  const Values& values = std::get<Values>(value.data);
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    const RecordField& field = schema.fields[i];
    if (!serde::IsAmong(known, field) && !values[i].is_null()) return field.name;
  }
  return {};
}

Result<DataFile> ToDataFile(const avro::Schema& schema, const Value& value,
                            const types::PartitionSpec& spec,
                            const std::vector<types::Type>& partition_types) {
  Reader reader(schema, value, "data_file");
  DataFile file{.content = reader.EnumOf(kContent, FileContent::kEqualityDeletes),
                .file_path = reader.StringOf(kFilePath),
                .file_format = reader.StringOf(kFileFormat),
                .partition_spec_id = spec.id,
                .partition = {},
                .record_count = reader.LongOf(kRecordCount),
                .file_size_in_bytes = reader.LongOf(kFileSize),
                .column_sizes = reader.MapOf<std::int64_t>(kColumnSizes),
                .value_counts = reader.MapOf<std::int64_t>(kValueCounts),
                .null_value_counts = reader.MapOf<std::int64_t>(kNullValueCounts),
                .nan_value_counts = reader.MapOf<std::int64_t>(kNanValueCounts),
                .lower_bounds = reader.MapOf<std::string>(kLowerBounds),
                .upper_bounds = reader.MapOf<std::string>(kUpperBounds),
                .key_metadata = reader.OptionalStringOf(kKeyMetadata),
                .split_offsets = reader.ListOf<std::int64_t>(kSplitOffsets),
                .equality_ids = reader.ListOf<FieldId>(kEqualityIds),
                .sort_order_id = std::nullopt,
                .first_row_id = reader.OptionalLongOf(kFirstRowId),
                .referenced_data_file = reader.OptionalStringOf(kReferencedDataFile)};
  if (const auto id = reader.OptionalIntOf(kSortOrderId)) {
    file.sort_order_id = SortOrderId(*id);
  }
  const avro::Schema* partition_schema = nullptr;
  const Value* partition = reader.Find(kPartition.id, kPartition.name, &partition_schema);
  if (partition == nullptr) reader.Fail(kPartition.name, "is missing");
  FIRN_RETURN_NOT_OK(reader.status());
  FIRN_ASSIGN_OR_RETURN(file.partition, PartitionFromAvro(*partition_schema, *partition,
                                                          spec, partition_types));
  return file;
}

Result<ManifestEntry> ToEntry(const avro::Schema& schema, const Value& value,
                              const types::PartitionSpec& spec,
                              const std::vector<types::Type>& partition_types) {
  Reader reader(schema, value, "manifest_entry");
  reader.RequireAll({kStatus});
  ManifestEntry entry{
      .status = reader.EnumOf(kStatus, EntryStatus::kDeleted),
      .snapshot_id = ToId<SnapshotId>(reader.OptionalLongOf(kSnapshotId)),
      .sequence_number = ToId<SnapshotSequence>(reader.OptionalLongOf(kSequenceNumber)),
      .file_sequence_number =
          ToId<SnapshotSequence>(reader.OptionalLongOf(kFileSequenceNumber)),
      .data_file = {}};
  const avro::Schema* file_schema = nullptr;
  const Value* file = reader.Find(kDataFile.id, kDataFile.name, &file_schema);
  if (file == nullptr) reader.Fail(kDataFile.name, "is missing");
  FIRN_RETURN_NOT_OK(reader.status());
  FIRN_ASSIGN_OR_RETURN(entry.data_file,
                        ToDataFile(*file_schema, *file, spec, partition_types));
  entry.unknown_field = UnknownField(schema, value, kEntryFields);
  if (entry.unknown_field.empty()) {
    entry.unknown_field = UnknownField(*file_schema, *file, kDataFileFields);
  }
  return entry;
}

}  // namespace

Result<std::string> EncodeManifest(const ManifestContext& context,
                                   const std::vector<ManifestEntry>& entries) {
  FIRN_ASSIGN_OR_RETURN(std::string schema, SchemaToJson(context.schema));
  FIRN_ASSIGN_OR_RETURN(std::string fields, PartitionFieldsToJson(context.spec));
  ManifestProperties header = {
      {"schema", std::move(schema)},
      {"schema-id", fmt::format("{}", context.schema.id)},
      {"partition-spec", std::move(fields)},
      {"partition-spec-id", fmt::format("{}", context.spec.id)},
      {"format-version", fmt::format("{}", context.format_version)},
      {"content", "data"}};
  header.insert(context.unknown_properties.begin(), context.unknown_properties.end());
  avro::ContainerWriter writer(
      EntrySchema(PartitionAvroSchema(context.spec, context.partition_types),
                  context.format_version),
      kManifestCodec, header);
  for (const ManifestEntry& entry : entries) {
    writer.Add(EntryValue(entry, context));
  }
  return writer.Finish();
}

Result<std::optional<ManifestHeader>> DecodeManifestHeader(std::string_view bytes) {
  FIRN_ASSIGN_OR_RETURN(const avro::ContainerBlocks container, avro::ReadBlocks(bytes));
  const auto find = [&](const char* name) -> std::string_view {
    const auto found = container.metadata.find(name);
    return found == container.metadata.end() ? std::string_view() : found->second;
  };
  if (find("schema").empty()) return std::nullopt;
  ManifestHeader header;
  FIRN_ASSIGN_OR_RETURN(header.schema, ParseSchemaJson(find("schema")));
  FIRN_ASSIGN_OR_RETURN(header.spec.fields,
                        ParsePartitionFieldsJson(find("partition-spec")));
  header.spec.id = PartitionSpecId(
      ParseWholeNumber<std::int32_t>(find("partition-spec-id")).value_or(0));
  FIRN_ASSIGN_OR_RETURN(header.partition_types,
                        types::PartitionTypes(header.spec, header.schema));
  header.format_version = serde::VersionOf(container.metadata);
  if (find("content") == "deletes") header.content = ManifestContent::kDeletes;
  return header;
}

Result<ManifestProperties> DecodeUnknownProperties(std::string_view bytes) {
  FIRN_ASSIGN_OR_RETURN(avro::ContainerBlocks container, avro::ReadBlocks(bytes));
  std::erase_if(container.metadata, [](const auto& property) {
    return property.first.starts_with(kAvroPrefix) ||
           std::ranges::find(kHeaderProperties, property.first) !=
               std::end(kHeaderProperties);
  });
  return std::move(container.metadata);
}

Result<std::vector<ManifestEntry>> DecodeManifest(
    std::string_view bytes, const types::PartitionSpec& spec,
    const std::vector<types::Type>& partition_types) {
  FIRN_ASSIGN_OR_RETURN(avro::Container container, avro::ReadContainer(bytes));
  std::vector<ManifestEntry> entries;
  entries.reserve(container.values.size());
  for (const Value& value : container.values) {
    FIRN_ASSIGN_OR_RETURN(ManifestEntry entry,
                          ToEntry(*container.schema, value, spec, partition_types));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace firn::iceberg
