#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// One change of a table. Data, named as in the REST catalog's "TableUpdate"; they reach
/// a REST server as they are.

/// Only for a table without a uuid.
struct AssignUuid {
  TableUuid uuid;
  bool operator==(const AssignUuid&) const = default;
};

/// The schema's id is given by the applier: the id of an equal schema, else the next one.
struct AddSchema {
  types::Schema schema;
  bool operator==(const AddSchema&) const = default;
};

/// -1: the schema that was added last among these updates; so are the specs' and sort
/// orders' below.
struct SetCurrentSchema {
  SchemaId schema_id{-1};
  bool operator==(const SetCurrentSchema&) const = default;
};

/// The ids of the spec and of its fields are given by the applier; a field that an
/// earlier spec has keeps its id.
struct AddSpec {
  types::PartitionSpec spec;
  bool operator==(const AddSpec&) const = default;
};

struct SetDefaultSpec {
  PartitionSpecId spec_id{-1};
  bool operator==(const SetDefaultSpec&) const = default;
};

struct AddSortOrder {
  order::SortOrder sort_order;
  bool operator==(const AddSortOrder&) const = default;
};

struct SetDefaultSortOrder {
  SortOrderId sort_order_id{-1};
  bool operator==(const SetDefaultSortOrder&) const = default;
};

/// Its sequence number is above the table's last and, from format version 3 on, its first
/// row id not below the table's next (else Conflict); its timestamp is not below its
/// parent's. Moves the table's next row id behind its added rows (Iceberg spec, "Snapshot
/// Row IDs").
struct AddSnapshot {
  Snapshot snapshot;
  bool operator==(const AddSnapshot&) const = default;
};

struct SetSnapshotRef {
  std::string ref_name;
  SnapshotRef ref;
  bool operator==(const SetSnapshotRef&) const = default;
};

struct SetProperties {
  std::map<std::string, std::string> updates;
  bool operator==(const SetProperties&) const = default;
};

struct RemoveProperties {
  std::vector<std::string> removals;
  bool operator==(const RemoveProperties&) const = default;
};

using TableUpdate =
    std::variant<AssignUuid, AddSchema, SetCurrentSchema, AddSpec, SetDefaultSpec,
                 AddSortOrder, SetDefaultSortOrder, AddSnapshot, SetSnapshotRef,
                 SetProperties, RemoveProperties>;

/// The metadata that follows `base` once `updates` are applied in order. Pure.
///
/// `base_location` (where `base` was read from) joins the metadata log, which keeps the
/// newest write.metadata.previous-versions-max entries (100 by default). The time of the
/// last update never goes back, and is the snapshot's own where main moves to a snapshot
/// that is added here. Conflict where the base is newer than the updates knew (sequence
/// number); Invalid, naming the update, for what can never be applied.
Result<TableMetadata> Apply(TableMetadata base, std::string_view base_location,
                            const std::vector<TableUpdate>& updates, WallTime now);

}  // namespace firn::iceberg
