#pragma once

#include <cstdint>
#include <string>

#include <arrow/type_fwd.h>

#include "firn/types/schema.h"

namespace firn::sources {

/// One row of a foreign file as a JSON object, for people and for a later try: every
/// column of the row, whatever its Arrow type.
///
/// Values stand as the NDJSON reader takes them for the column of that name in `table`
/// (bytes as text where it is a string, a float with a double's digits where it is a
/// double), and as their own type says where there is none: numbers and booleans as such,
/// dates and times as ISO 8601, bytes as hex, text that is not UTF-8 as it is, a value
/// that no calendar reaches by its number. Never fails; nothing of a value is left out.
std::string RowAsJson(const arrow::RecordBatch& rows, const types::Schema& table,
                      std::int64_t row);

/// One value as JSON, as it stands in a row that becomes `type`.
std::string ValueAsJson(const arrow::Array& column, const types::Type& type,
                        std::int64_t row);

}  // namespace firn::sources
