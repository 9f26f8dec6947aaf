#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "firn/wal/segment.h"
#include "firn/wal/sorted_rows.h"

namespace firn::wal {

/// Up to `count` keys above the first one of rows [first_row, first_row + rows), evenly
/// spaced in bytes; `shift`, in [0, 1), says how far each stands into its share.
///
/// Strictly ascending, truncated down; the fraction is the exact share below the
/// truncated key, by size in memory.
std::vector<KeySample> SampleKeys(const SortedRows& sorted, std::int64_t first_row,
                                  std::int64_t rows, std::size_t count, double shift);

/// How far samples are shifted: equal for one row group of one segment, and different for
/// others, so that segments of alike rows do not all sample the same quantiles.
double SampleShift(std::string_view segment, std::size_t row_group);

}  // namespace firn::wal
