#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <parquet/schema.h>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::parquet_io {

/// The Parquet schema of a data file (Iceberg spec, Appendix A, "Parquet"): columns in
/// the order of `schema`, field ids on every field, lists and maps in three levels,
/// decimals in the narrowest physical type. Invalid, naming the field, for a struct
/// without fields.
Result<std::shared_ptr<parquet::schema::GroupNode>> ToParquetSchema(
    const types::Schema& schema);

/// For each leaf column of `target` the one of `source` whose pages mean the same: same
/// field ids, repetition, physical and logical type, up to the root. Nothing if one is
/// lacking.
std::optional<std::vector<int>> MatchColumns(const parquet::SchemaDescriptor& target,
                                             const parquet::SchemaDescriptor& source);

/// The leaf column with this field id; nothing if there is none.
std::optional<int> FindColumn(const parquet::SchemaDescriptor& schema, FieldId id);

}  // namespace firn::parquet_io
