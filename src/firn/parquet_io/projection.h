#pragma once

#include <memory>
#include <vector>

#include <arrow/type_fwd.h>
#include <parquet/arrow/schema.h>
#include <parquet/schema.h>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::parquet_io {

/// The leaf columns of a file that `schema` needs, in order. Of a struct none of whose
/// wanted fields is in the file, its first leaf: it tells which structs are null.
std::vector<int> ColumnsToRead(const parquet::SchemaDescriptor& file,
                               const types::Schema& schema);

/// Rows as `schema` wants them (Iceberg spec, "Column Projection"): by field id, renamed,
/// promoted, in its order, what is missing its initial default, else null. `batch` has
/// columns of the file, of which `file` tells the ids. Corruption, naming the column, if
/// the file's type does not fit or a required column, at any depth, is missing or null.
Result<std::shared_ptr<arrow::RecordBatch>> Project(
    const arrow::RecordBatch& batch, const std::vector<parquet::arrow::SchemaField>& file,
    const types::Schema& schema);

}  // namespace firn::parquet_io
