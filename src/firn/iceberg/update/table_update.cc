#include "firn/iceberg/update/table_update.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "firn/core/whole_number.h"
#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/metadata_json.h"
#include "firn/order/key_encoder.h"

namespace firn::iceberg {
namespace {

constexpr const char* kPreviousVersionsMaxProperty =
    "write.metadata.previous-versions-max";
constexpr std::size_t kPreviousVersionsMaxDefault = 100;

/// The id that means "the one added last among these updates".
constexpr std::int32_t kLastAdded = -1;

std::int64_t ToMilliseconds(WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

/// One above the highest id of `items`, `first` if there are none.
template <typename Item, typename Id>
Id NextId(const std::vector<Item>& items, Id Item::* id, std::int32_t first) {
  std::int32_t next = first;
  for (const Item& item : items) next = std::max(next, (item.*id).value() + 1);
  return Id(next);
}

bool SameSchema(const types::Schema& a, const types::Schema& b) {
  return a.fields == b.fields && a.identifier_field_ids == b.identifier_field_ids;
}

bool SameField(const types::PartitionField& a, const types::PartitionField& b) {
  return a.source_id == b.source_id && a.name == b.name && a.transform == b.transform;
}

bool SameSpec(const types::PartitionSpec& a, const types::PartitionSpec& b) {
  return std::ranges::equal(a.fields, b.fields, SameField);
}

std::size_t PreviousVersionsMax(const TableMetadata& metadata) {
  const auto property = metadata.properties.find(kPreviousVersionsMaxProperty);
  if (property == metadata.properties.end()) return kPreviousVersionsMaxDefault;
  const auto value = ParseWholeNumber<std::size_t>(property->second);
  return value ? std::max<std::size_t>(*value, 1) : kPreviousVersionsMaxDefault;
}

void AppendToMetadataLog(std::string_view base_location, std::int64_t base_updated_ms,
                         TableMetadata& metadata) {
  std::vector<MetadataLogEntry>& log = metadata.metadata_log;
  log.push_back({.timestamp_ms = base_updated_ms,
                 .metadata_file = std::string(base_location),
                 .unknown = {}});
  const std::size_t max = PreviousVersionsMax(metadata);
  if (log.size() > max) log.erase(log.begin(), log.end() - static_cast<long>(max));
}

class Applier {
 public:
  Applier(TableMetadata& metadata, std::int64_t now_ms)
      : metadata_(metadata), updated_ms_(std::max(now_ms, metadata.last_updated_ms)) {}

  Status operator()(const AssignUuid& update) {
    if (!metadata_.table_uuid.value().empty() && metadata_.table_uuid != update.uuid) {
      return InvalidError("assign-uuid: the table has the uuid {}", metadata_.table_uuid);
    }
    metadata_.table_uuid = update.uuid;
    return Status::OK();
  }

  Status operator()(const AddSchema& update) {
    auto& schemas = metadata_.schemas;
    const auto same = std::ranges::find_if(schemas, [&](const types::Schema& schema) {
      return SameSchema(schema, update.schema);
    });
    if (same != schemas.end()) {
      added_schema_ = same->id;
      return Status::OK();
    }
    types::Schema schema = update.schema;
    schema.id = NextId(schemas, &types::Schema::id, 0);
    metadata_.last_column_id =
        std::max(metadata_.last_column_id, types::HighestFieldId(schema));
    added_schema_ = schema.id;
    schemas.push_back(std::move(schema));
    return Status::OK();
  }

  Status operator()(const SetCurrentSchema& update) {
    FIRN_ASSIGN_OR_RETURN(SchemaId id,
                          Resolve("set-current-schema", update.schema_id, added_schema_));
    if (FindSchema(metadata_, id) == nullptr) {
      return InvalidError("set-current-schema: there is no schema {}", id);
    }
    metadata_.current_schema_id = id;
    return Status::OK();
  }

  Status operator()(const AddSpec& update) {
    auto& specs = metadata_.partition_specs;
    const auto same = std::ranges::find_if(specs, [&](const types::PartitionSpec& spec) {
      return SameSpec(spec, update.spec);
    });
    if (same != specs.end()) {
      added_spec_ = same->id;
      return Status::OK();
    }
    const Status fits =
        types::PartitionTypes(update.spec, CurrentSchema(metadata_)).status();
    if (!fits.ok()) return AddContext(fits, "add-spec");
    types::PartitionSpec spec = update.spec;
    spec.id = NextId(specs, &types::PartitionSpec::id, 0);
    for (types::PartitionField& field : spec.fields) field.field_id = FieldIdFor(field);
    added_spec_ = spec.id;
    specs.push_back(std::move(spec));
    return Status::OK();
  }

  Status operator()(const SetDefaultSpec& update) {
    FIRN_ASSIGN_OR_RETURN(PartitionSpecId id,
                          Resolve("set-default-spec", update.spec_id, added_spec_));
    if (FindSpec(metadata_, id) == nullptr) {
      return InvalidError("set-default-spec: there is no spec {}", id);
    }
    metadata_.default_spec_id = id;
    return Status::OK();
  }

  Status operator()(const AddSortOrder& update) {
    auto& orders = metadata_.sort_orders;
    const auto same =
        std::ranges::find(orders, update.sort_order.fields, &order::SortOrder::fields);
    if (same != orders.end()) {
      added_order_ = same->id;
      return Status::OK();
    }
    const Status fits =
        order::KeyEncoder::Make(update.sort_order, CurrentSchema(metadata_)).status();
    if (!fits.ok()) return AddContext(fits, "add-sort-order");
    order::SortOrder order = update.sort_order;
    // 0 is reserved for "unsorted".
    order.id =
        order.fields.empty() ? SortOrderId(0) : NextId(orders, &order::SortOrder::id, 1);
    added_order_ = order.id;
    orders.push_back(std::move(order));
    return Status::OK();
  }

  Status operator()(const SetDefaultSortOrder& update) {
    FIRN_ASSIGN_OR_RETURN(SortOrderId id, Resolve("set-default-sort-order",
                                                  update.sort_order_id, added_order_));
    if (FindSortOrder(metadata_, id) == nullptr) {
      return InvalidError("set-default-sort-order: there is no sort order {}", id);
    }
    metadata_.default_sort_order_id = id;
    return Status::OK();
  }

  Status operator()(const AddSnapshot& update) {
    const Snapshot& snapshot = update.snapshot;
    if (FindSnapshot(metadata_, snapshot.snapshot_id) != nullptr) {
      return InvalidError("add-snapshot: the table has a snapshot {} already",
                          snapshot.snapshot_id);
    }
    if (snapshot.sequence_number <= metadata_.last_sequence_number) {
      return Error(ErrorKind::kConflict,
                   "add-snapshot: sequence number {} is not above the table's last, {}",
                   snapshot.sequence_number, metadata_.last_sequence_number);
    }
    FIRN_RETURN_NOT_OK(CheckTime(snapshot));
    FIRN_RETURN_NOT_OK(TakeRowIds(snapshot));
    metadata_.last_sequence_number = snapshot.sequence_number;
    FIRN_ASSIGN_OR_RETURN(std::string json, SnapshotToJson(snapshot));
    metadata_.snapshots.push_back(snapshot, std::move(json));
    added_snapshots_.insert(snapshot.snapshot_id);
    return Status::OK();
  }

  Status operator()(const SetSnapshotRef& update) {
    const Snapshot* snapshot = FindSnapshot(metadata_, update.ref.snapshot_id);
    if (snapshot == nullptr) {
      return InvalidError("set-snapshot-ref: there is no snapshot {}",
                          update.ref.snapshot_id);
    }
    if (update.ref_name == kMainBranch) {
      if (update.ref.type != RefType::kBranch) {
        return InvalidError("set-snapshot-ref: main cannot be a tag");
      }
      FIRN_RETURN_NOT_OK(MoveMain(*snapshot));
    }
    metadata_.refs.insert_or_assign(update.ref_name, update.ref);
    return Status::OK();
  }

  Status operator()(const SetProperties& update) {
    for (const auto& [key, value] : update.updates) metadata_.properties[key] = value;
    return Status::OK();
  }

  Status operator()(const RemoveProperties& update) {
    for (const std::string& key : update.removals) metadata_.properties.erase(key);
    return Status::OK();
  }

  std::int64_t updated_ms() const { return updated_ms_; }

 private:
  template <typename Id>
  static Result<Id> Resolve(std::string_view update, Id id, std::optional<Id> added) {
    if (id.value() != kLastAdded) return id;
    if (added.has_value()) return *added;
    return InvalidError("{}: nothing was added before", update);
  }

  /// An equal field of any earlier spec lends its id, so that manifests of both specs
  /// agree on what the id means.
  FieldId FieldIdFor(const types::PartitionField& field) {
    for (const types::PartitionSpec& spec : metadata_.partition_specs) {
      for (const types::PartitionField& earlier : spec.fields) {
        if (SameField(earlier, field)) return earlier.field_id;
      }
    }
    return ++metadata_.last_partition_id;
  }

  Status CheckTime(const Snapshot& snapshot) const {
    if (!snapshot.parent_snapshot_id.has_value()) return Status::OK();
    const Snapshot* parent = FindSnapshot(metadata_, *snapshot.parent_snapshot_id);
    if (parent == nullptr || parent->timestamp_ms <= snapshot.timestamp_ms) {
      return Status::OK();
    }
    return InvalidError("add-snapshot: timestamp {} ms is before the parent's, {} ms",
                        snapshot.timestamp_ms, parent->timestamp_ms);
  }

  Status TakeRowIds(const Snapshot& snapshot) {
    if (!HasRowLineage(metadata_.format_version)) return Status::OK();
    if (!snapshot.first_row_id || !snapshot.added_rows || *snapshot.added_rows < 0) {
      return InvalidError(
          "add-snapshot: format version {} needs first-row-id and added-rows, or rows "
          "would be without ids",
          metadata_.format_version);
    }
    if (*snapshot.first_row_id < metadata_.next_row_id) {
      return Error(ErrorKind::kConflict,
                   "add-snapshot: first-row-id {} is below the table's next-row-id, {}",
                   *snapshot.first_row_id, metadata_.next_row_id);
    }
    metadata_.next_row_id = *snapshot.first_row_id + *snapshot.added_rows;
    return Status::OK();
  }

  Status MoveMain(const Snapshot& snapshot) {
    if (metadata_.current_snapshot_id == snapshot.snapshot_id) return Status::OK();
    if (added_snapshots_.contains(snapshot.snapshot_id)) {
      // Time travel to the snapshot's own time must find it.
      updated_ms_ = std::max(metadata_.last_updated_ms, snapshot.timestamp_ms);
    }
    DropIntermediateLogEntry();
    metadata_.current_snapshot_id = snapshot.snapshot_id;
    const SnapshotLogEntry entry = {
        .timestamp_ms = updated_ms_, .snapshot_id = snapshot.snapshot_id, .unknown = {}};
    FIRN_ASSIGN_OR_RETURN(std::string json, SnapshotLogEntryToJson(entry));
    metadata_.snapshot_log.push_back(entry, std::move(json));
    return Status::OK();
  }

  /// A snapshot that is added here and replaced here was never the table's state.
  void DropIntermediateLogEntry() {
    auto& log = metadata_.snapshot_log;
    if (log.empty() || !added_snapshots_.contains(log.back().snapshot_id)) return;
    log.pop_back();
  }

  TableMetadata& metadata_;
  std::int64_t updated_ms_;
  std::optional<SchemaId> added_schema_;
  std::optional<PartitionSpecId> added_spec_;
  std::optional<SortOrderId> added_order_;
  std::set<SnapshotId> added_snapshots_;
};

}  // namespace

Result<TableMetadata> Apply(TableMetadata base, std::string_view base_location,
                            const std::vector<TableUpdate>& updates, WallTime now) {
  const std::int64_t base_updated_ms = base.last_updated_ms;
  Applier applier(base, ToMilliseconds(now));
  for (const TableUpdate& update : updates) {
    FIRN_RETURN_NOT_OK(std::visit([&](const auto& one) { return applier(one); }, update));
  }
  base.last_updated_ms = applier.updated_ms();
  AppendToMetadataLog(base_location, base_updated_ms, base);
  return base;
}

}  // namespace firn::iceberg
