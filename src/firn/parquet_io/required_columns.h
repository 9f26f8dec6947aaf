#pragma once

#include <memory>
#include <optional>
#include <string>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::parquet_io {

/// The full name of the first required field, at any depth, that is null although what
/// holds it is not; nothing if there is none. Parquet has no room for such a null: its
/// writer would put a value there that nobody gave. `batch` has columns as in
/// ToArrowSchema(schema), in types and order.
Result<std::optional<std::string>> FindNullOfRequired(const types::Schema& schema,
                                                      const arrow::RecordBatch& batch);

/// `batch`, in which FindNullOfRequired found nothing, with no field both required and
/// null: whatever lies below a null is there, with a value that nobody sees. Arrow's
/// writer refuses the file otherwise. Shares the buffers of `batch`.
std::shared_ptr<arrow::RecordBatch> WithValuesBelowNulls(
    const types::Schema& schema, std::shared_ptr<arrow::RecordBatch> batch);

}  // namespace firn::parquet_io
