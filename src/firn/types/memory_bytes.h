#pragma once

#include <cstdint>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"

namespace firn::types {

/// What rows take in memory: bytes of the buffers that their columns refer to, of which
/// a slice counts as far as it reaches. Buffers that columns share count for each of
/// them.
///
/// Says the same as arrow::util::ReferencedBufferSize of each column, which makes some
/// arrays for it: as much work as to sort a few rows.
Result<std::int64_t> MemoryBytes(const arrow::RecordBatch& rows);

}  // namespace firn::types
