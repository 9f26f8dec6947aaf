#pragma once

#include <cstdint>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/type.h"

namespace firn::iceberg {

/// Invalid, naming the column, for what no table of this format version may have: no
/// columns, two of one name, more than 32 levels, what a later version brought
/// (timestamp_ns, timestamptz_ns, default values).
Status CheckColumns(const std::vector<types::Field>& fields, std::int32_t format_version);

}  // namespace firn::iceberg
