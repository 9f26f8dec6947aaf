#pragma once

#include <cstdint>
#include <vector>

#include <arrow/type_fwd.h>

namespace firn::wal {

/// Bytes that the first n rows of `batch` take in memory, for n from 0 to its rows.
///
/// Values, and one byte a row; null bitmaps and offsets are left out. Ascends strictly.
std::vector<std::int64_t> CumulativeRowBytes(const arrow::RecordBatch& batch);

}  // namespace firn::wal
