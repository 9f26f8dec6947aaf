#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/order/key_encoder.h"
#include "firn/wal/segment_builder.h"

namespace firn::wal {

/// Rows [first_row, first_row + rows) are those of one partition.
struct PartitionRows {
  types::PartitionTuple tuple;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
};

/// The rows of a segment by (partition tuple, key).
struct SortedRows {
  /// The table's columns, then the hidden ones.
  std::shared_ptr<arrow::RecordBatch> batch;
  /// By tuple.
  std::vector<PartitionRows> partitions;
  /// As handed in, not sorted; `order` says which row came from where.
  order::EncodedKeys keys;
  std::vector<std::int64_t> order;
  /// As CumulativeRowBytes, of the table's columns.
  std::vector<std::int64_t> row_bytes;

  std::string_view key(std::int64_t row) const {
    return keys[order[static_cast<std::size_t>(row)]];
  }
  std::int64_t bytes(std::int64_t first_row, std::int64_t rows) const {
    return row_bytes[static_cast<std::size_t>(first_row + rows)] -
           row_bytes[static_cast<std::size_t>(first_row)];
  }
};

/// Sorts, stable; `partition_order` is the partition spec as a sort order. Invalid,
/// naming the column, if rows do not fit the layout.
Result<SortedRows> SortRows(const TableLayout& layout,
                            const order::SortOrder& partition_order,
                            const std::shared_ptr<arrow::Schema>& file_schema,
                            const std::vector<SegmentRows>& rows);

}  // namespace firn::wal
