#pragma once

#include <map>
#include <string>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// What a new table is to be.
struct TableCreation {
  types::Schema schema;
  /// Source ids are those of `schema`.
  types::PartitionSpec partition_spec;
  order::SortOrder sort_order;
  std::map<std::string, std::string> properties;
  /// Empty: the catalog's choice.
  std::string location;
};

/// The first metadata of a table. Pure.
///
/// Ids are given anew, as every Iceberg catalog does: fields from 1, partition fields
/// from 1000, schema and spec 0, sort order 1 (0 if unsorted). Use what comes back. The
/// property format-version chooses the version, 2 or 3, and is not kept; without it the
/// version is 2. Invalid, naming the field or property, if the schema has no columns, two
/// of one name or more than 32 levels, or what a later version brought (timestamp_ns,
/// timestamptz_ns, default values), if spec or order do not fit it, or for another
/// version.
Result<TableMetadata> NewTableMetadata(TableCreation creation, TableUuid uuid,
                                       WallTime now);

}  // namespace firn::iceberg
