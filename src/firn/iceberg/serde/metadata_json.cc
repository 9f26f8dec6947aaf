#include "firn/iceberg/serde/metadata_json.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "firn/iceberg/metadata/coherence.h"
#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/json_lists.h"
#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg {
namespace {

using serde::Json;
using serde::ObjectReader;
using serde::ParseOutcome;
using serde::ToJsonValue;

constexpr std::int32_t kFormatVersionMax = 3;
constexpr FieldId kNoPartitionFieldId = 999;
constexpr std::string_view kSnapshots = "snapshots";
constexpr std::string_view kSnapshotLog = "snapshot-log";
/// Java writes this for "no current snapshot".
constexpr std::int64_t kNoSnapshot = -1;

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

template <typename Item>
void ReadShared(ObjectReader& reader, std::string_view name, Item (*read)(ObjectReader),
                SharedList<Item>& items) {
  const Json& array = reader.Array(name);
  for (std::size_t i = 0; i < array.size(); ++i) {
    items.push_back(read({array[i], reader.PathOf(name, i), reader.outcome()}));
  }
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
    (void)reader.Find("current-schema-id");
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
    // Of specs that are not there: it is no unknown field, and is written anew.
    (void)reader.Find("default-spec-id");
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
    (void)reader.Find("default-sort-order-id");
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
  // Null is no empty list: a table would look empty that is not.
  if (reader.Has(kSnapshots)) reader.Get(kSnapshots);
  ReadShared(reader, kSnapshots, serde::ReadSnapshot, metadata.snapshots);
  ReadShared(reader, kSnapshotLog, serde::ReadSnapshotLogEntry, metadata.snapshot_log);
  metadata.metadata_log =
      ReadList(reader, "metadata-log", [&](const Json& json, const std::string& path) {
        return serde::ReadMetadataLogEntry({json, path, outcome});
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

/// Reads all but the two lists that were cut out, and checks nothing across fields.
Result<TableMetadata> ReadUnchecked(const Json& json) {
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
  return metadata;
}

/// Finds elements word for word in a list of an older version, where they stand in the
/// same order, if they are there.
template <typename Item>
class KnownItems {
 public:
  explicit KnownItems(const SharedList<Item>* items) : items_(items) {}

  /// Null if it is not known.
  typename SharedList<Item>::Shared Find(std::string_view json) {
    if (items_ == nullptr || vain_searches_ == kVainSearchesMax) return nullptr;
    for (std::size_t i = next_; i < items_->size(); ++i) {
      if (items_->At(i)->json != json) continue;
      next_ = i + 1;
      return items_->At(i);
    }
    if (next_ < items_->size()) ++vain_searches_;
    return nullptr;
  }

 private:
  /// So many say that somebody wrote them all anew.
  static constexpr int kVainSearchesMax = 16;

  const SharedList<Item>* items_;
  std::size_t next_ = 0;
  int vain_searches_ = 0;
};

/// Old writers left out what is 0, and format version 2 wants it.
bool MayStayAsItIs(const Snapshot& snapshot) {
  return snapshot.sequence_number != SnapshotSequence(0);
}
bool MayStayAsItIs(const SnapshotLogEntry&) { return true; }

template <typename Item>
Status ReadSlices(const std::vector<std::string_view>& elements,
                  const SharedList<Item>* known_items, Item (*read)(ObjectReader),
                  SharedList<Item>& items) {
  KnownItems<Item> known(known_items);
  for (const std::string_view element : elements) {
    if (auto shared = known.Find(element)) {
      items.Push(std::move(shared));
      continue;
    }
    FIRN_ASSIGN_OR_RETURN(const Json json, serde::ParseJson(element));
    ParseOutcome outcome;
    Item item = read({json, "", outcome});
    FIRN_RETURN_NOT_OK(outcome.status);
    std::string text(MayStayAsItIs(item) ? element : std::string_view());
    items.push_back(std::move(item), std::move(text));
  }
  return Status::OK();
}

Result<TableMetadata> ReadCut(const serde::CutLists& cut, const TableMetadata* known) {
  FIRN_ASSIGN_OR_RETURN(const Json rest, serde::ParseJson(cut.rest));
  FIRN_ASSIGN_OR_RETURN(TableMetadata metadata, ReadUnchecked(rest));
  FIRN_RETURN_NOT_OK(ReadSlices(cut.elements[0],
                                known == nullptr ? nullptr : &known->snapshots,
                                serde::ReadSnapshot, metadata.snapshots));
  FIRN_RETURN_NOT_OK(ReadSlices(cut.elements[1],
                                known == nullptr ? nullptr : &known->snapshot_log,
                                serde::ReadSnapshotLogEntry, metadata.snapshot_log));
  FIRN_RETURN_NOT_OK(CheckCoherence(metadata));
  return metadata;
}

/// The member `name` as JSON text, a comma in front. What has been written before is not
/// written anew.
template <typename Item>
Status AppendList(std::string_view name, const SharedList<Item>& items,
                  Result<std::string> (*to_json)(const Item&), std::string& text) {
  fmt::format_to(std::back_inserter(text), R"(,"{}":[)", name);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& entry = *items.At(i);
    if (i > 0) text += ',';
    if (!entry.json.empty()) {
      text += entry.json;
      continue;
    }
    FIRN_ASSIGN_OR_RETURN(const std::string json, to_json(entry.item));
    text += json;
  }
  text += ']';
  return Status::OK();
}

}  // namespace

Result<TableMetadata> serde::ReadTableMetadata(const Json& json) {
  FIRN_ASSIGN_OR_RETURN(TableMetadata metadata, ReadUnchecked(json));
  FIRN_RETURN_NOT_OK(CheckCoherence(metadata));
  return metadata;
}

Result<TableMetadata> ParseTableMetadata(std::string_view text,
                                         const TableMetadata* known) {
  if (const auto cut = serde::CutTopLevelLists(text, {kSnapshots, kSnapshotLog})) {
    Result<TableMetadata> metadata = ReadCut(*cut, known);
    if (metadata.ok()) return metadata;
  }
  // Says what is wrong, and where in the whole document.
  FIRN_ASSIGN_OR_RETURN(const Json json, serde::ParseJson(text));
  return serde::ReadTableMetadata(json);
}

Result<std::string> SnapshotToJson(const Snapshot& snapshot) {
  return serde::DumpJson(ToJsonValue(snapshot));
}

Result<std::string> SnapshotLogEntryToJson(const SnapshotLogEntry& entry) {
  return serde::DumpJson(ToJsonValue(entry));
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
  FIRN_ASSIGN_OR_RETURN(std::string text, serde::DumpJson(json));
  text.pop_back();
  FIRN_RETURN_NOT_OK(AppendList(kSnapshots, metadata.snapshots, SnapshotToJson, text));
  FIRN_RETURN_NOT_OK(
      AppendList(kSnapshotLog, metadata.snapshot_log, SnapshotLogEntryToJson, text));
  Json rest = {{"metadata-log", ToArray(metadata.metadata_log)}};
  if (HasRowLineage(metadata.format_version)) rest["next-row-id"] = metadata.next_row_id;
  serde::AddUnknown(metadata.unknown, rest);
  FIRN_ASSIGN_OR_RETURN(std::string rest_text, serde::DumpJson(rest));
  rest_text.front() = ',';
  return text + rest_text;
}

}  // namespace firn::iceberg
