#pragma once

#include <optional>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/iceberg/update/requirement.h"
#include "firn/iceberg/update/table_update.h"

namespace firn::iceberg {

/// A commit that changes a table's schema, and nothing if another one did first.
struct PreparedSchemaChange {
  std::vector<TableRequirement> requirements;
  std::vector<TableUpdate> updates;
};

/// What makes the current schema one that takes rows of `wanted` (types::UnionByName);
/// nothing if it does. Pure.
///
/// Invalid, naming the field, as UnionByName and CheckColumns, and for what the rest of
/// the table does not allow: a field that identifies rows made optional, a new one with
/// the name of a partition field, or a date that a partition or sort field takes made a
/// timestamp where the partitions, or the order, would be others (Iceberg spec, "Schema
/// Evolution"). A name mapping gets the new fields.
Result<std::optional<PreparedSchemaChange>> PrepareSchemaChange(
    const TableMetadata& metadata, const types::Schema& wanted);

}  // namespace firn::iceberg
