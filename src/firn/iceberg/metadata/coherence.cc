#include "firn/iceberg/metadata/coherence.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/metadata/schema_coherence.h"

namespace firn::iceberg {
namespace {

constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();

template <typename... Arguments>
Status Broken(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return Error(ErrorKind::kCorruption, text, std::forward<Arguments>(arguments)...);
}

bool IsUuid(std::string_view text) {
  constexpr std::string_view kForm = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  return std::ranges::equal(text, kForm, [&](char c, char form) {
    return form == '-' ? c == '-' : kHex.find(c) != std::string_view::npos;
  });
}

Status CheckUuid(const TableMetadata& metadata) {
  const std::string& uuid = metadata.table_uuid.value();
  const bool may_be_missing = metadata.format_version == 1;
  if (IsUuid(uuid) || (uuid.empty() && may_be_missing)) return Status::OK();
  return Broken("table-uuid: '{}' is no UUID", uuid);
}

/// Where each id stands in a list.
template <typename Id>
using Places = std::unordered_map<Id, std::size_t>;

/// Fails if an id is there twice. `member` is the path of an id in the list `list`.
template <typename Id, typename Items, typename Item>
Result<Places<Id>> IndexIds(const Items& items, Id Item::* id, std::string_view list,
                            std::string_view member) {
  Places<Id> places;
  places.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto [earlier, is_new] = places.emplace(items[i].*id, i);
    if (is_new) continue;
    return Broken("{}[{}].{}: {}[{}] has the id {}, too", list, i, member, list,
                  earlier->second, items[i].*id);
  }
  return places;
}

template <typename Id>
Status CheckIsThere(const Places<Id>& places, Id id, std::string_view field) {
  if (places.contains(id)) return Status::OK();
  return Broken("{}: nothing here has the id {}", field, id);
}

Status CheckSchemas(const TableMetadata& metadata) {
  FIRN_ASSIGN_OR_RETURN(
      const auto places,
      IndexIds<SchemaId>(metadata.schemas, &types::Schema::id, "schemas", "schema-id"));
  FIRN_RETURN_NOT_OK(
      CheckIsThere(places, metadata.current_schema_id, "current-schema-id"));
  return CheckSchemaIds(metadata);
}

/// Of a spec's or sort order's fields.
template <typename Fields>
Status CheckSources(const Fields& fields, const types::Schema& schema,
                    std::string_view path) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    // What was dropped from a table of format version 1 stays as a void field.
    if (fields[i].transform.kind == types::TransformKind::kVoid) continue;
    if (types::FindField(schema, fields[i].source_id) != nullptr) continue;
    return Broken("{}.fields[{}].source-id: {} is no column of the current schema", path,
                  i, fields[i].source_id);
  }
  return Status::OK();
}

Status CheckSpecs(const TableMetadata& metadata) {
  FIRN_ASSIGN_OR_RETURN(
      const auto places,
      IndexIds<PartitionSpecId>(metadata.partition_specs, &types::PartitionSpec::id,
                                "partition-specs", "spec-id"));
  FIRN_RETURN_NOT_OK(CheckIsThere(places, metadata.default_spec_id, "default-spec-id"));
  FIRN_RETURN_NOT_OK(CheckSpecIds(metadata));
  const std::size_t place = places.at(metadata.default_spec_id);
  return CheckSources(metadata.partition_specs[place].fields, CurrentSchema(metadata),
                      fmt::format("partition-specs[{}]", place));
}

Status CheckSortOrders(const TableMetadata& metadata) {
  FIRN_ASSIGN_OR_RETURN(const auto places,
                        IndexIds<SortOrderId>(metadata.sort_orders, &order::SortOrder::id,
                                              "sort-orders", "order-id"));
  FIRN_RETURN_NOT_OK(
      CheckIsThere(places, metadata.default_sort_order_id, "default-sort-order-id"));
  const std::size_t place = places.at(metadata.default_sort_order_id);
  return CheckSources(metadata.sort_orders[place].fields, CurrentSchema(metadata),
                      fmt::format("sort-orders[{}]", place));
}

Status CheckSequenceNumbers(const TableMetadata& metadata) {
  if (metadata.format_version == 1) return Status::OK();
  const SnapshotSequence last = metadata.last_sequence_number;
  if (last.value() < 0 || last.value() == kLongMax) {
    return Broken("last-sequence-number: {} leaves no number for a next snapshot", last);
  }
  for (std::size_t i = 0; i < metadata.snapshots.size(); ++i) {
    const SnapshotSequence own = metadata.snapshots[i].sequence_number;
    if (own <= last) continue;
    return Broken("snapshots[{}].sequence-number: {} is above last-sequence-number, {}",
                  i, own, last);
  }
  return Status::OK();
}

Status CheckRowIds(const Snapshot& snapshot, std::size_t i, std::int64_t next_row_id) {
  if (!snapshot.first_row_id) return Status::OK();
  const std::int64_t first = *snapshot.first_row_id;
  if (first < 0) return Broken("snapshots[{}].first-row-id: {} is negative", i, first);
  if (!snapshot.added_rows) {
    return Broken("snapshots[{}].added-rows: missing beside first-row-id {}", i, first);
  }
  const std::int64_t rows = *snapshot.added_rows;
  if (rows < 0) return Broken("snapshots[{}].added-rows: {} is negative", i, rows);
  if (first <= next_row_id && rows <= next_row_id - first) return Status::OK();
  return Broken(
      "snapshots[{}].first-row-id: {}, with added-rows {}, is beyond next-row-id, {}", i,
      first, rows, next_row_id);
}

Status CheckRowIds(const TableMetadata& metadata) {
  if (!HasRowLineage(metadata.format_version)) return Status::OK();
  if (metadata.next_row_id < 0) {
    return Broken("next-row-id: {} is negative", metadata.next_row_id);
  }
  for (std::size_t i = 0; i < metadata.snapshots.size(); ++i) {
    FIRN_RETURN_NOT_OK(CheckRowIds(metadata.snapshots[i], i, metadata.next_row_id));
  }
  return Status::OK();
}

/// Goes up from each snapshot until it comes to one where it was before.
Status CheckHistories(const TableMetadata& metadata, const Places<SnapshotId>& places) {
  const auto& snapshots = metadata.snapshots;
  const std::size_t nobody = snapshots.size();
  std::vector<std::size_t> visitor(snapshots.size(), nobody);
  for (std::size_t start = 0; start < snapshots.size(); ++start) {
    std::size_t at = start;
    while (visitor[at] == nobody) {
      visitor[at] = start;
      const auto& parent = snapshots[at].parent_snapshot_id;
      const auto place = parent ? places.find(*parent) : places.end();
      if (place == places.end()) break;
      if (visitor[place->second] == start) {
        return Broken("snapshots[{}].parent-snapshot-id: {} descends from this snapshot",
                      at, *parent);
      }
      at = place->second;
    }
  }
  return Status::OK();
}

Status CheckCurrentSnapshot(const TableMetadata& metadata,
                            const Places<SnapshotId>& places) {
  const auto main = metadata.refs.find(std::string(kMainBranch));
  if (!metadata.current_snapshot_id.has_value()) {
    if (main == metadata.refs.end()) return Status::OK();
    return Broken("current-snapshot-id: missing, but refs.main is at {}",
                  main->second.snapshot_id);
  }
  const SnapshotId current = *metadata.current_snapshot_id;
  FIRN_RETURN_NOT_OK(CheckIsThere(places, current, "current-snapshot-id"));
  if (main == metadata.refs.end() || main->second.snapshot_id == current) {
    return Status::OK();
  }
  return Broken("current-snapshot-id: {} differs from refs.main, which is at {}", current,
                main->second.snapshot_id);
}

Status CheckRefs(const TableMetadata& metadata, const Places<SnapshotId>& places) {
  for (const auto& [name, ref] : metadata.refs) {
    if (!places.contains(ref.snapshot_id)) {
      return Broken("refs.{}.snapshot-id: nothing here has the id {}", name,
                    ref.snapshot_id);
    }
    if (name == kMainBranch && ref.type != RefType::kBranch) {
      return Broken("refs.{}.type: must be branch, not tag", name);
    }
  }
  return Status::OK();
}

Status CheckSnapshots(const TableMetadata& metadata) {
  FIRN_ASSIGN_OR_RETURN(const auto places,
                        IndexIds<SnapshotId>(metadata.snapshots, &Snapshot::snapshot_id,
                                             "snapshots", "snapshot-id"));
  FIRN_RETURN_NOT_OK(CheckSequenceNumbers(metadata));
  FIRN_RETURN_NOT_OK(CheckRowIds(metadata));
  FIRN_RETURN_NOT_OK(CheckHistories(metadata, places));
  FIRN_RETURN_NOT_OK(CheckCurrentSnapshot(metadata, places));
  return CheckRefs(metadata, places);
}

}  // namespace

Status CheckCoherence(const TableMetadata& metadata) {
  FIRN_RETURN_NOT_OK(CheckUuid(metadata));
  FIRN_RETURN_NOT_OK(CheckSchemas(metadata));
  FIRN_RETURN_NOT_OK(CheckSpecs(metadata));
  FIRN_RETURN_NOT_OK(CheckSortOrders(metadata));
  return CheckSnapshots(metadata);
}

}  // namespace firn::iceberg
