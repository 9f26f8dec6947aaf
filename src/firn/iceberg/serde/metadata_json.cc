#include "firn/iceberg/serde/metadata_json.h"

#include <algorithm>
#include <utility>

#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg {
namespace {

using serde::Json;
using serde::ObjectReader;
using serde::ParseOutcome;
using serde::ToJsonValue;

constexpr std::int32_t kFormatVersionMax = 3;
constexpr FieldId kNoPartitionFieldId = 999;
/// Java writes this for "no current snapshot".
constexpr std::int64_t kNoSnapshot = -1;

SnapshotLogEntry ReadSnapshotLogEntry(ObjectReader reader) {
  SnapshotLogEntry entry{.timestamp_ms = reader.Long("timestamp-ms"),
                         .snapshot_id = SnapshotId(reader.Long("snapshot-id")),
                         .unknown = {}};
  entry.unknown = reader.Unknown();
  return entry;
}

Json ToJsonValue(const SnapshotLogEntry& entry) {
  Json json = {{"timestamp-ms", entry.timestamp_ms},
               {"snapshot-id", entry.snapshot_id.value()}};
  serde::AddUnknown(entry.unknown, json);
  return json;
}

MetadataLogEntry ReadMetadataLogEntry(ObjectReader reader) {
  MetadataLogEntry entry{.timestamp_ms = reader.Long("timestamp-ms"),
                         .metadata_file = reader.String("metadata-file"),
                         .unknown = {}};
  entry.unknown = reader.Unknown();
  return entry;
}

Json ToJsonValue(const MetadataLogEntry& entry) {
  Json json = {{"timestamp-ms", entry.timestamp_ms},
               {"metadata-file", entry.metadata_file}};
  serde::AddUnknown(entry.unknown, json);
  return json;
}

/// Every element of the array `name`, each read by `read(json, path)`.
template <typename Read>
auto ReadList(ObjectReader& reader, std::string_view name, const Read& read) {
  const Json& array = reader.Array(name);
  std::vector<decltype(read(array, std::string()))> values;
  for (std::size_t i = 0; i < array.size(); ++i) {
    values.push_back(read(array[i], reader.PathOf(name, i)));
  }
  return values;
}

template <typename Value>
Json ToArray(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const Value& value : values) array.push_back(ToJsonValue(value));
  return array;
}

void ReadSchemas(ObjectReader& reader, TableMetadata& metadata) {
  ParseOutcome& outcome = reader.outcome();
  const Json* old_schema = reader.Find("schema");
  if (reader.Find("schemas") == nullptr && metadata.format_version == 1 &&
      old_schema != nullptr) {
    metadata.schemas = {serde::ReadSchema(*old_schema, "schema", outcome)};
    metadata.current_schema_id = metadata.schemas.front().id;
    return;
  }
  reader.Get("schemas");
  metadata.schemas =
      ReadList(reader, "schemas", [&](const Json& json, const std::string& path) {
        return serde::ReadSchema(json, path, outcome);
      });
  metadata.current_schema_id = SchemaId(reader.Int("current-schema-id"));
}

FieldId HighestPartitionFieldId(const std::vector<types::PartitionSpec>& specs) {
  FieldId highest = kNoPartitionFieldId;
  for (const types::PartitionSpec& spec : specs) {
    for (const types::PartitionField& field : spec.fields) {
      highest = std::max(highest, field.field_id);
    }
  }
  return highest;
}

void ReadSpecs(ObjectReader& reader, TableMetadata& metadata) {
  ParseOutcome& outcome = reader.outcome();
  const Json* old_fields = reader.Find("partition-spec");
  if (reader.Find("partition-specs") == nullptr && metadata.format_version == 1 &&
      old_fields != nullptr) {
    metadata.partition_specs = {
        {.id = PartitionSpecId(0),
         .fields = serde::ReadPartitionFields(*old_fields, "partition-spec", outcome),
         .unknown = {}}};
  } else {
    reader.Get("partition-specs");
    metadata.partition_specs = ReadList(reader, "partition-specs",
                                        [&](const Json& json, const std::string& path) {
                                          return serde::ReadSpec(json, path, outcome);
                                        });
    metadata.default_spec_id = PartitionSpecId(reader.Int("default-spec-id"));
  }
  const FieldId highest = HighestPartitionFieldId(metadata.partition_specs);
  metadata.last_partition_id =
      metadata.format_version == 1
          ? reader.OptionalInt("last-partition-id").value_or(highest)
          : reader.Int("last-partition-id");
}

void ReadSortOrders(ObjectReader& reader, TableMetadata& metadata) {
  if (reader.Find("sort-orders") == nullptr && metadata.format_version == 1) {
    metadata.sort_orders = {order::SortOrder()};
    return;
  }
  reader.Get("sort-orders");
  metadata.sort_orders =
      ReadList(reader, "sort-orders", [&](const Json& json, const std::string& path) {
        return serde::ReadSortOrder(json, path, reader.outcome());
      });
  metadata.default_sort_order_id = SortOrderId(reader.Int("default-sort-order-id"));
}

void ReadHistory(ObjectReader& reader, TableMetadata& metadata) {
  ParseOutcome& outcome = reader.outcome();
  const auto current = reader.OptionalLong("current-snapshot-id");
  if (current && *current != kNoSnapshot) {
    metadata.current_snapshot_id = SnapshotId(*current);
  }
  metadata.snapshots =
      ReadList(reader, "snapshots", [&](const Json& json, const std::string& path) {
        return serde::ReadSnapshot({json, path, outcome});
      });
  metadata.snapshot_log =
      ReadList(reader, "snapshot-log", [&](const Json& json, const std::string& path) {
        return ReadSnapshotLogEntry({json, path, outcome});
      });
  metadata.metadata_log =
      ReadList(reader, "metadata-log", [&](const Json& json, const std::string& path) {
        return ReadMetadataLogEntry({json, path, outcome});
      });
}

void ReadRefs(ObjectReader& reader, TableMetadata& metadata) {
  const Json* refs = reader.Find("refs");
  if (refs != nullptr && !refs->is_object()) {
    reader.outcome().Fail(
        Error(ErrorKind::kCorruption, "{}: expected an object", reader.PathOf("refs")));
    return;
  }
  if (refs != nullptr) {
    for (const auto& [name, json] : refs->items()) {
      const std::string path = fmt::format("{}.{}", reader.PathOf("refs"), name);
      metadata.refs.emplace(name, serde::ReadRef({json, path, reader.outcome()}));
    }
  }
  // Older writers kept main's snapshot in one place only.
  if (metadata.current_snapshot_id.has_value()) {
    metadata.refs.try_emplace(std::string(kMainBranch),
                              SnapshotRef{.snapshot_id = *metadata.current_snapshot_id});
  }
}

Status CheckConsistency(const TableMetadata& metadata) {
  const auto missing = [](std::string_view field, auto id) {
    return Error(ErrorKind::kCorruption, "{}: nothing here has the id {}", field, id);
  };
  if (FindSchema(metadata, metadata.current_schema_id) == nullptr) {
    return missing("current-schema-id", metadata.current_schema_id);
  }
  if (FindSpec(metadata, metadata.default_spec_id) == nullptr) {
    return missing("default-spec-id", metadata.default_spec_id);
  }
  if (FindSortOrder(metadata, metadata.default_sort_order_id) == nullptr) {
    return missing("default-sort-order-id", metadata.default_sort_order_id);
  }
  if (metadata.next_row_id < 0) {
    return Error(ErrorKind::kCorruption, "next-row-id: {} is negative",
                 metadata.next_row_id);
  }
  const auto main = metadata.refs.find(std::string(kMainBranch));
  if (!metadata.current_snapshot_id.has_value()) {
    if (main == metadata.refs.end()) return Status::OK();
    return Error(ErrorKind::kCorruption,
                 "current-snapshot-id: missing, but refs.main is at {}",
                 main->second.snapshot_id);
  }
  if (FindSnapshot(metadata, *metadata.current_snapshot_id) == nullptr) {
    return missing("current-snapshot-id", *metadata.current_snapshot_id);
  }
  if (main->second.snapshot_id != *metadata.current_snapshot_id) {
    return Error(ErrorKind::kCorruption,
                 "current-snapshot-id: {} differs from refs.main, which is at {}",
                 *metadata.current_snapshot_id, main->second.snapshot_id);
  }
  return Status::OK();
}

std::string WithoutSlashAtEnd(std::string location) {
  while (location.size() > 1 && location.back() == '/') location.pop_back();
  return location;
}

TableMetadata ReadMetadata(ObjectReader& reader, std::int32_t format_version) {
  TableMetadata metadata;
  metadata.format_version = format_version;
  metadata.table_uuid =
      TableUuid(metadata.format_version == 1 ? reader.OptionalString("table-uuid")
                                             : reader.String("table-uuid"));
  metadata.location = WithoutSlashAtEnd(reader.String("location"));
  if (metadata.format_version > 1) {
    metadata.last_sequence_number = SnapshotSequence(reader.Long("last-sequence-number"));
  }
  metadata.last_updated_ms = reader.Long("last-updated-ms");
  metadata.last_column_id = reader.Int("last-column-id");
  ReadSchemas(reader, metadata);
  ReadSpecs(reader, metadata);
  ReadSortOrders(reader, metadata);
  metadata.properties = reader.StringMap("properties");
  ReadHistory(reader, metadata);
  ReadRefs(reader, metadata);
  if (HasRowLineage(metadata.format_version)) {
    metadata.next_row_id = reader.Long("next-row-id");
  }
  metadata.unknown = reader.Unknown();
  return metadata;
}

}  // namespace

Result<TableMetadata> serde::ReadTableMetadata(const Json& json) {
  ParseOutcome outcome;
  ObjectReader reader(json, "", outcome);
  const std::int32_t version = reader.Int("format-version");
  FIRN_RETURN_NOT_OK(outcome.status);
  if (version < 1 || version > kFormatVersionMax) {
    return InvalidError("format-version: {} is not supported, only 1 to {}", version,
                        kFormatVersionMax);
  }
  TableMetadata metadata = ReadMetadata(reader, version);
  FIRN_RETURN_NOT_OK(outcome.status);
  FIRN_RETURN_NOT_OK(CheckConsistency(metadata));
  return metadata;
}

Result<TableMetadata> ParseTableMetadata(std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(const Json json, serde::ParseJson(text));
  return serde::ReadTableMetadata(json);
}

Result<std::string> MetadataToJson(const TableMetadata& metadata) {
  Json json = {{"format-version", metadata.format_version}};
  if (!metadata.table_uuid.value().empty()) {
    json["table-uuid"] = metadata.table_uuid.value();
  }
  json["location"] = metadata.location;
  if (metadata.format_version > 1) {
    json["last-sequence-number"] = metadata.last_sequence_number.value();
  }
  json["last-updated-ms"] = metadata.last_updated_ms;
  json["last-column-id"] = metadata.last_column_id;
  json["current-schema-id"] = metadata.current_schema_id.value();
  json["schemas"] = ToArray(metadata.schemas);
  json["default-spec-id"] = metadata.default_spec_id.value();
  json["partition-specs"] = ToArray(metadata.partition_specs);
  json["last-partition-id"] = metadata.last_partition_id;
  json["default-sort-order-id"] = metadata.default_sort_order_id.value();
  json["sort-orders"] = ToArray(metadata.sort_orders);
  json["properties"] = metadata.properties;
  if (metadata.current_snapshot_id.has_value()) {
    json["current-snapshot-id"] = metadata.current_snapshot_id->value();
  }
  json["refs"] = Json::object();
  for (const auto& [name, ref] : metadata.refs) json["refs"][name] = ToJsonValue(ref);
  json["snapshots"] = ToArray(metadata.snapshots);
  json["snapshot-log"] = ToArray(metadata.snapshot_log);
  json["metadata-log"] = ToArray(metadata.metadata_log);
  if (HasRowLineage(metadata.format_version)) json["next-row-id"] = metadata.next_row_id;
  serde::AddUnknown(metadata.unknown, json);
  return serde::DumpJson(json);
}

}  // namespace firn::iceberg
