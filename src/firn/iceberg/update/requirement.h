#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// What must hold of a table for a commit to be applied. Data, named as in the REST
/// catalog's "TableRequirement"; they reach a REST server as they are.

/// The table is not there yet.
struct AssertCreate {
  bool operator==(const AssertCreate&) const = default;
};

struct AssertTableUuid {
  TableUuid uuid;
  bool operator==(const AssertTableUuid&) const = default;
};

/// The branch or tag `ref` is at `snapshot_id`; without an id: there is no such ref.
struct AssertRefSnapshotId {
  std::string ref;
  std::optional<SnapshotId> snapshot_id;
  bool operator==(const AssertRefSnapshotId&) const = default;
};

struct AssertLastAssignedFieldId {
  FieldId last_assigned_field_id = 0;
  bool operator==(const AssertLastAssignedFieldId&) const = default;
};

struct AssertCurrentSchemaId {
  SchemaId current_schema_id;
  bool operator==(const AssertCurrentSchemaId&) const = default;
};

struct AssertLastAssignedPartitionId {
  FieldId last_assigned_partition_id = 0;
  bool operator==(const AssertLastAssignedPartitionId&) const = default;
};

struct AssertDefaultSpecId {
  PartitionSpecId default_spec_id;
  bool operator==(const AssertDefaultSpecId&) const = default;
};

struct AssertDefaultSortOrderId {
  SortOrderId default_sort_order_id;
  bool operator==(const AssertDefaultSortOrderId&) const = default;
};

using TableRequirement = std::variant<AssertCreate, AssertTableUuid, AssertRefSnapshotId,
                                      AssertLastAssignedFieldId, AssertCurrentSchemaId,
                                      AssertLastAssignedPartitionId, AssertDefaultSpecId,
                                      AssertDefaultSortOrderId>;

/// Conflict, naming the first requirement that does not hold of `metadata`. Pure.
Status Check(const std::vector<TableRequirement>& requirements,
             const TableMetadata& metadata);

}  // namespace firn::iceberg
