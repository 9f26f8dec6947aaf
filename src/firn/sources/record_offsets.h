#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"

namespace firn::sources {

/// The offsets of a delivery, one for each row: the records that the rows came from.
Result<std::shared_ptr<arrow::Int64Array>> OffsetsOf(
    const std::vector<std::int64_t>& records);

}  // namespace firn::sources
