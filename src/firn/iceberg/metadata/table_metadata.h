#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/core/ids.h"
#include "firn/iceberg/metadata/shared_list.h"
#include "firn/iceberg/metadata/snapshot.h"
#include "firn/order/sort_order.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"

namespace firn::iceberg {

struct SnapshotLogEntry {
  std::int64_t timestamp_ms = 0;
  SnapshotId snapshot_id;
  types::UnknownFields unknown;

  bool operator==(const SnapshotLogEntry&) const = default;
};

struct MetadataLogEntry {
  std::int64_t timestamp_ms = 0;
  std::string metadata_file;
  types::UnknownFields unknown;

  bool operator==(const MetadataLogEntry&) const = default;
};

/// All that a table's metadata file says (Iceberg spec, "Table Metadata").
///
/// Fields that Firn only carries along (statistics, encryption keys, and whatever later
/// versions add) are in `unknown`, here and at every level below.
struct TableMetadata {
  /// 1, 2 or 3.
  std::int32_t format_version = 2;
  /// Empty only in old tables of format version 1.
  TableUuid table_uuid;
  /// Without a slash at the end.
  std::string location;
  SnapshotSequence last_sequence_number;
  std::int64_t last_updated_ms = 0;
  FieldId last_column_id = 0;
  std::vector<types::Schema> schemas;
  SchemaId current_schema_id;
  std::vector<types::PartitionSpec> partition_specs;
  PartitionSpecId default_spec_id;
  FieldId last_partition_id = 999;
  std::vector<order::SortOrder> sort_orders;
  SortOrderId default_sort_order_id;
  std::map<std::string, std::string> properties;
  /// The snapshot of main; nothing in a table without one.
  std::optional<SnapshotId> current_snapshot_id;
  /// These two grow with every commit until somebody expires snapshots: what copies of
  /// the metadata share, and what they are as JSON, is kept.
  SharedList<Snapshot> snapshots;
  SharedList<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  std::map<std::string, SnapshotRef> refs;
  /// Above every row id that was given out ("Row Lineage"); 0 before format version 3.
  std::int64_t next_row_id = 0;
  types::UnknownFields unknown;

  bool operator==(const TableMetadata&) const = default;
};

/// Null if there is none with this id. The result lives as long as `metadata`, unchanged.
const Snapshot* FindSnapshot(const TableMetadata& metadata, SnapshotId id);
const types::Schema* FindSchema(const TableMetadata& metadata, SchemaId id);
const types::PartitionSpec* FindSpec(const TableMetadata& metadata, PartitionSpecId id);
const order::SortOrder* FindSortOrder(const TableMetadata& metadata, SortOrderId id);

/// Main's snapshot; null if main has none.
const Snapshot* CurrentSnapshot(const TableMetadata& metadata);

/// Metadata that was parsed, or made by NewTableMetadata or Apply, always has these
/// three.
const types::Schema& CurrentSchema(const TableMetadata& metadata);
const types::PartitionSpec& DefaultSpec(const TableMetadata& metadata);
const order::SortOrder& DefaultSortOrder(const TableMetadata& metadata);

/// The folder of new metadata files: the property write.metadata.path, else
/// "<location>/metadata". Without a slash at the end.
std::string MetadataFolder(const TableMetadata& metadata);

}  // namespace firn::iceberg
