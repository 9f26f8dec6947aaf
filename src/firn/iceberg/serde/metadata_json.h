#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Table metadata as JSON (Iceberg spec, Appendix C). Everything that ParseTableMetadata
/// read comes out again, except what format version 1 keeps twice ("schema",
/// "partition-spec") and a current snapshot of -1, which means none. Invalid if a string
/// is not UTF-8.
Result<std::string> MetadataToJson(const TableMetadata& metadata);

/// Reads format versions 1, 2 and 3. Corruption, naming the field by its path, if `text`
/// is malformed or names a schema, spec, sort order or snapshot that it does not hold;
/// Invalid for a version, type or transform that Firn does not know.
Result<TableMetadata> ParseTableMetadata(std::string_view text);

}  // namespace firn::iceberg
