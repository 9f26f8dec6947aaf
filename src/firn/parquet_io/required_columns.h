#pragma once

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

}  // namespace firn::parquet_io
