#include "firn/iceberg/serde/manifest_avro.h"

#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "firn/core/whole_number.h"
#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/serde/avro/schema.h"
#include "firn/iceberg/serde/avro/value.h"
#include "firn/iceberg/serde/partition_avro.h"
#include "firn/iceberg/serde/schema_json.h"

namespace firn::iceberg {
namespace {

using avro::Kind;
using avro::Optional;
using avro::Primitive;
using avro::RecordField;
using avro::RecordReader;
using avro::SchemaPtr;
using avro::Value;
using avro::Values;

/// Field ids and names of the spec's `manifest_entry`, `data_file`, `manifest_file` and
/// `field_summary` structs.
struct Named {
  FieldId id;
  const char* name;
};

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
constexpr Named kReferencedDataFile{143, "referenced_data_file"};

/// A map of the spec: from field id to a metric.
struct NamedMap {
  Named field;
  FieldId key_id;
  FieldId value_id;
};

constexpr NamedMap kColumnSizes{{108, "column_sizes"}, 117, 118};
constexpr NamedMap kValueCounts{{109, "value_counts"}, 119, 120};
constexpr NamedMap kNullValueCounts{{110, "null_value_counts"}, 121, 122};
constexpr NamedMap kNanValueCounts{{137, "nan_value_counts"}, 138, 139};
constexpr NamedMap kLowerBounds{{125, "lower_bounds"}, 126, 127};
constexpr NamedMap kUpperBounds{{128, "upper_bounds"}, 129, 130};

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

constexpr Named kContainsNull{509, "contains_null"};
constexpr Named kContainsNan{518, "contains_nan"};
constexpr Named kLowerBound{510, "lower_bound"};
constexpr Named kUpperBound{511, "upper_bound"};

constexpr const char* kMapAttribute = "\"logicalType\": \"map\"";
constexpr avro::Codec kCodec = avro::Codec::kDeflate;

RecordField Field(Named field, SchemaPtr type) {
  return {.name = field.name, .field_id = field.id, .type = std::move(type)};
}

RecordField Field(Named field, Kind kind) { return Field(field, Primitive(kind)); }

RecordField OptionalField(Named field, Kind kind) {
  return Field(field, Optional(Primitive(kind)));
}

/// Avro's own maps have string keys only: the spec keeps others as arrays of pairs.
RecordField MapField(const NamedMap& map, Kind value) {
  SchemaPtr pair = avro::Record(
      fmt::format("k{}_v{}", map.key_id, map.value_id),
      {Field({map.key_id, "key"}, Kind::kInt), Field({map.value_id, "value"}, value)});
  return Field(map.field,
               Optional(avro::Array(std::move(pair), std::nullopt, kMapAttribute)));
}

SchemaPtr DataFileSchema(SchemaPtr partition) {
  return avro::Record(
      "r2",
      {Field(kContent, Kind::kInt), Field(kFilePath, Kind::kString),
       Field(kFileFormat, Kind::kString), Field(kPartition, std::move(partition)),
       Field(kRecordCount, Kind::kLong), Field(kFileSize, Kind::kLong),
       MapField(kColumnSizes, Kind::kLong), MapField(kValueCounts, Kind::kLong),
       MapField(kNullValueCounts, Kind::kLong), MapField(kNanValueCounts, Kind::kLong),
       MapField(kLowerBounds, Kind::kBytes), MapField(kUpperBounds, Kind::kBytes),
       OptionalField(kKeyMetadata, Kind::kBytes),
       Field(kSplitOffsets,
             Optional(avro::Array(Primitive(Kind::kLong), kSplitOffsetId))),
       Field(kEqualityIds, Optional(avro::Array(Primitive(Kind::kInt), kEqualityId))),
       OptionalField(kSortOrderId, Kind::kInt)});
}

SchemaPtr EntrySchema(SchemaPtr partition) {
  return avro::Record(
      "manifest_entry",
      {Field(kStatus, Kind::kInt), OptionalField(kSnapshotId, Kind::kLong),
       OptionalField(kSequenceNumber, Kind::kLong),
       OptionalField(kFileSequenceNumber, Kind::kLong),
       Field(kDataFile, DataFileSchema(std::move(partition)))});
}

SchemaPtr ManifestFileSchema() {
  SchemaPtr summary = avro::Record("r508", {Field(kContainsNull, Kind::kBoolean),
                                            OptionalField(kContainsNan, Kind::kBoolean),
                                            OptionalField(kLowerBound, Kind::kBytes),
                                            OptionalField(kUpperBound, Kind::kBytes)});
  return avro::Record(
      "manifest_file",
      {Field(kManifestPath, Kind::kString), Field(kManifestLength, Kind::kLong),
       Field(kPartitionSpecId, Kind::kInt), Field(kManifestContent, Kind::kInt),
       Field(kManifestSequence, Kind::kLong), Field(kMinSequence, Kind::kLong),
       Field(kAddedSnapshotId, Kind::kLong), Field(kAddedFiles, Kind::kInt),
       Field(kExistingFiles, Kind::kInt), Field(kDeletedFiles, Kind::kInt),
       Field(kAddedRows, Kind::kLong), Field(kExistingRows, Kind::kLong),
       Field(kDeletedRows, Kind::kLong),
       Field(kPartitions,
             Optional(avro::Array(std::move(summary), kPartitionsElementId))),
       OptionalField(kManifestKeyMetadata, Kind::kBytes)});
}

template <typename Number>
Value Long(Number number) {
  return {static_cast<std::int64_t>(number)};
}

template <typename Id>
Value OptionalId(const std::optional<Id>& id) {
  return id.has_value() ? Long(id->value()) : Value{};
}

Value OptionalBytes(const std::optional<std::string>& bytes) {
  return bytes.has_value() ? Value{*bytes} : Value{};
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

Value DataFileValue(const DataFile& file, const std::vector<types::Type>& types) {
  return {Values{Long(file.content), Value{file.file_path}, Value{file.file_format},
                 PartitionToAvro(file.partition, types), Long(file.record_count),
                 Long(file.file_size_in_bytes), MapValue(file.column_sizes),
                 MapValue(file.value_counts), MapValue(file.null_value_counts),
                 MapValue(file.nan_value_counts), MapValue(file.lower_bounds),
                 MapValue(file.upper_bounds), OptionalBytes(file.key_metadata),
                 ListValue(file.split_offsets), ListValue(file.equality_ids),
                 OptionalId(file.sort_order_id)}};
}

Value EntryValue(const ManifestEntry& entry, const std::vector<types::Type>& types) {
  return {Values{Long(entry.status), OptionalId(entry.snapshot_id),
                 OptionalId(entry.sequence_number),
                 OptionalId(entry.file_sequence_number),
                 DataFileValue(entry.data_file, types)}};
}

Value SummariesValue(const std::optional<std::vector<FieldSummary>>& summaries) {
  if (!summaries.has_value()) return {};
  Values values;
  for (const FieldSummary& summary : *summaries) {
    const Value contains_nan =
        summary.contains_nan.has_value() ? Value{*summary.contains_nan} : Value{};
    values.push_back(
        {Values{Value{summary.contains_null}, contains_nan,
                OptionalBytes(summary.lower_bound), OptionalBytes(summary.upper_bound)}});
  }
  return {std::move(values)};
}

bool HasCounts(const ManifestFile& manifest) {
  return manifest.added_files_count && manifest.existing_files_count &&
         manifest.deleted_files_count && manifest.added_rows_count &&
         manifest.existing_rows_count && manifest.deleted_rows_count;
}

Value ManifestFileValue(const ManifestFile& manifest) {
  return {Values{
      Value{manifest.manifest_path}, Long(manifest.manifest_length),
      Long(manifest.partition_spec_id.value()), Long(manifest.content),
      OptionalId(manifest.sequence_number), OptionalId(manifest.min_sequence_number),
      Long(manifest.added_snapshot_id.value()), Long(*manifest.added_files_count),
      Long(*manifest.existing_files_count), Long(*manifest.deleted_files_count),
      Long(*manifest.added_rows_count), Long(*manifest.existing_rows_count),
      Long(*manifest.deleted_rows_count), SummariesValue(manifest.partitions),
      OptionalBytes(manifest.key_metadata)}};
}

/// The spec's format version of a manifest or manifest list; 1 if it is not said.
std::int32_t VersionOf(const std::map<std::string, std::string>& metadata) {
  const auto said = metadata.find("format-version");
  if (said == metadata.end()) return 1;
  return ParseWholeNumber<std::int32_t>(said->second).value_or(1);
}

/// Typed access to one record of a manifest or manifest list.
class Reader : public RecordReader {
 public:
  using RecordReader::RecordReader;

  std::int64_t LongOf(Named field) { return Require<std::int64_t>(field.id, field.name); }

  std::int32_t IntOf(Named field) { return Narrow(field, LongOf(field)); }

  std::string StringOf(Named field) { return Require<std::string>(field.id, field.name); }

  std::optional<std::int64_t> OptionalLongOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return LongOf(field);
  }

  std::optional<std::int32_t> OptionalIntOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return IntOf(field);
  }

  std::optional<std::string> OptionalStringOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return StringOf(field);
  }

  std::optional<bool> OptionalBoolOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return Require<bool>(field.id, field.name);
  }

  /// An enumeration whose values are 0 to `last`; 0 if the field is missing.
  template <typename Enum>
  Enum EnumOf(Named field, Enum last) {
    const std::int64_t value = Get<std::int64_t>(field.id, field.name, 0);
    if (0 <= value && value <= static_cast<std::int64_t>(last)) {
      return static_cast<Enum>(value);
    }
    Fail(field.name, fmt::format("is {}, which means nothing", value));
    return Enum{};
  }

  void RequireAll(std::initializer_list<Named> fields) {
    for (const Named& field : fields) {
      if (Find(field.id, field.name) == nullptr) Fail(field.name, "is missing");
    }
  }

  template <typename Metric>
  std::map<FieldId, Metric> MapOf(const NamedMap& map) {
    const avro::Schema* type = nullptr;
    const Value* value = Find(map.field.id, map.field.name, &type);
    std::map<FieldId, Metric> metrics;
    if (value == nullptr) return metrics;
    const Values* pairs = std::get_if<Values>(&value->data);
    if (pairs == nullptr || type->kind != Kind::kArray) {
      Fail(map.field.name, "is not a map");
      return metrics;
    }
    for (const Value& pair : *pairs) {
      Reader reader(*type->parts[0], pair, map.field.name);
      const FieldId id = reader.IntOf({map.key_id, "key"});
      metrics[id] = reader.Require<Metric>(map.value_id, "value");
      if (!reader.status().ok()) Fail(map.field.name, "is damaged");
    }
    return metrics;
  }

  template <typename Number>
  std::vector<Number> ListOf(Named field) {
    const Value* value = Find(field.id, field.name);
    std::vector<Number> numbers;
    if (value == nullptr) return numbers;
    const Values* values = std::get_if<Values>(&value->data);
    if (values == nullptr) {
      Fail(field.name, "is not a list");
      return numbers;
    }
    for (const Value& element : *values) {
      const auto* number = std::get_if<std::int64_t>(&element.data);
      if (number == nullptr) Fail(field.name, "has an element that is no number");
      if (number != nullptr) numbers.push_back(static_cast<Number>(*number));
    }
    return numbers;
  }

 private:
  std::int32_t Narrow(Named field, std::int64_t value) {
    using Limits = std::numeric_limits<std::int32_t>;
    if (value < Limits::min() || value > Limits::max())
      Fail(field.name, "is out of range");
    return static_cast<std::int32_t>(value);
  }
};

template <typename Id>
std::optional<Id> ToId(std::optional<std::int64_t> value) {
  if (!value.has_value()) return std::nullopt;
  return Id(*value);
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
  return entry;
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
  const avro::Schema& element = *type->parts[0];
  for (const Value& summary : *values) {
    Reader fields(element.kind == Kind::kUnion ? *element.parts.back() : element, summary,
                  kPartitions.name);
    summaries.push_back(
        {.contains_null = fields.Require<bool>(kContainsNull.id, kContainsNull.name),
         .contains_nan = fields.OptionalBoolOf(kContainsNan),
         .lower_bound = fields.OptionalStringOf(kLowerBound),
         .upper_bound = fields.OptionalStringOf(kUpperBound)});
    if (!fields.status().ok()) reader.Fail(kPartitions.name, "is damaged");
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
      .key_metadata = reader.OptionalStringOf(kManifestKeyMetadata)};
  FIRN_RETURN_NOT_OK(reader.status());
  return manifest;
}

}  // namespace

Result<std::string> EncodeManifest(const ManifestContext& context,
                                   const std::vector<ManifestEntry>& entries) {
  FIRN_ASSIGN_OR_RETURN(std::string schema, SchemaToJson(context.schema));
  FIRN_ASSIGN_OR_RETURN(std::string fields, PartitionFieldsToJson(context.spec));
  avro::ContainerWriter writer(
      EntrySchema(PartitionAvroSchema(context.spec, context.partition_types)), kCodec,
      {{"schema", std::move(schema)},
       {"schema-id", fmt::format("{}", context.schema.id)},
       {"partition-spec", std::move(fields)},
       {"partition-spec-id", fmt::format("{}", context.spec.id)},
       {"format-version", "2"},
       {"content", "data"}});
  for (const ManifestEntry& entry : entries) {
    writer.Add(EntryValue(entry, context.partition_types));
  }
  return writer.Finish();
}

Result<std::optional<ManifestHeader>> DecodeManifestHeader(std::string_view bytes) {
  FIRN_ASSIGN_OR_RETURN(const avro::Container container, avro::ReadContainer(bytes));
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
  header.format_version = VersionOf(container.metadata);
  if (find("content") == "deletes") header.content = ManifestContent::kDeletes;
  return header;
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

Result<bool> CanTakeOverManifestList(std::string_view bytes) {
  FIRN_ASSIGN_OR_RETURN(const avro::ContainerBlocks list, avro::ReadBlocks(bytes));
  return avro::ContainerWriter(ManifestFileSchema(), kCodec, {}).CanTakeOver(list);
}

Result<std::string> EncodeManifestList(const ManifestListHeader& header,
                                       const std::vector<ManifestFile>& manifests,
                                       std::string_view taken_over) {
  const std::string parent = header.parent_snapshot_id.has_value()
                                 ? fmt::format("{}", *header.parent_snapshot_id)
                                 : "null";
  avro::ContainerWriter writer(
      ManifestFileSchema(), kCodec,
      {{"snapshot-id", fmt::format("{}", header.snapshot_id)},
       {"parent-snapshot-id", parent},
       {"sequence-number", fmt::format("{}", header.sequence_number)},
       {"format-version", "2"}});
  for (const ManifestFile& manifest : manifests) {
    if (!HasCounts(manifest)) {
      return InvalidError(
          "manifest {} was listed without file counts, which format version 2 requires: "
          "rewrite the table's manifests first",
          manifest.manifest_path);
    }
    writer.Add(ManifestFileValue(manifest));
  }
  if (!taken_over.empty()) {
    FIRN_ASSIGN_OR_RETURN(const avro::ContainerBlocks list, avro::ReadBlocks(taken_over));
    FIRN_RETURN_NOT_OK(writer.TakeOver(list));
  }
  return writer.Finish();
}

Result<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes) {
  FIRN_ASSIGN_OR_RETURN(avro::Container container, avro::ReadContainer(bytes));
  const std::int32_t version = VersionOf(container.metadata);
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
