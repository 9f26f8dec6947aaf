#pragma once

#include <cstdint>
#include <string>

#include <arrow/type_fwd.h>

#include "firn/types/schema.h"

namespace firn::sources {

/// One row as a JSON object, for people and for files that hold no text: numbers and
/// booleans as such, everything else as strings like ToText's. Strings that are not UTF-8
/// stay so. REQUIRES: columns as in ToArrowSchema, but that required ones may be null.
std::string RowAsJson(const arrow::RecordBatch& rows, const types::Schema& schema,
                      std::int64_t row);

}  // namespace firn::sources
