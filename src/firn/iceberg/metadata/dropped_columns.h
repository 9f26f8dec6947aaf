#pragma once

#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// The schema under which files of an old partition spec or sort order are understood:
/// the current one and, behind its columns, those that the spec or order needs and that
/// were dropped since, as the newest schema that had them described them.
///
/// Of a nested column that was dropped, a struct with that column alone is added: it has
/// the id and name of the struct that may still be there. A column that no schema of the
/// table has any more (they expire) is left out. Pure.
types::Schema SchemaFor(const TableMetadata& metadata, const types::PartitionSpec& spec);
types::Schema SchemaFor(const TableMetadata& metadata, const order::SortOrder& order);

}  // namespace firn::iceberg
