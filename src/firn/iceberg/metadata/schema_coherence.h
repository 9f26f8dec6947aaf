#pragma once

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Refuses schemas whose fields cannot be told apart, with Corruption that begins with
/// the field's path ("schemas[1].fields[2].type.element-id"). Pure; linear. Part of
/// CheckCoherence.
///
/// In each schema, field ids are unique, nested ones included, and so are the names in
/// one struct (Iceberg spec, "Schemas and Data Types"; of the names Java and PyIceberg):
/// a file has one column for each. Names that differ in case are two. No id is negative:
/// in a Parquet file, -1 is none. From format version 2 on, which Firn writes, no id is
/// above last-column-id ("Schema Evolution"): the next column would get the id of one
/// that files have already.
Status CheckSchemaIds(const TableMetadata& metadata);

/// As above for partition specs: in each one, field ids and names are unique ("Partition
/// Specs"; of the names Java), no id is negative, and from format version 2 on no id is
/// above last-partition-id. An id may mean something else in another spec, as in tables
/// of format version 1, where each spec counts from 1000 ("Partition Evolution").
Status CheckSpecIds(const TableMetadata& metadata);

}  // namespace firn::iceberg
