#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/parquet_io/column_metrics.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/wal/segment.h"

namespace firn::wal {

struct SegmentOptions {
  /// Compressed bytes at which a row group ends; an estimate decides.
  std::int64_t row_group_bytes = 8LL << 20;
  parquet_io::Codec codec = parquet_io::Codec::kZstd;
  parquet_io::MetricsConfig metrics;
};

/// Rows of one source partition, or of none.
struct SegmentRows {
  /// Columns as in ToArrowSchema(layout.schema).
  std::shared_ptr<arrow::RecordBatch> rows;
  /// Index into the segment's ranges; nothing = the rows have no source.
  std::optional<std::int32_t> source;
  /// One per row, no nulls; null if and only if there is no source.
  std::shared_ptr<arrow::Int64Array> offsets;
};

/// Invalid, naming the column, if `rows` does not have ToArrowSchema(schema)'s columns,
/// or nulls where none may be.
Status CheckRows(const types::Schema& schema, const arrow::RecordBatch& rows);

/// A segment whose bytes will never change again.
struct FrozenSegment {
  std::shared_ptr<arrow::Buffer> bytes;
  SegmentFooter footer;
  std::int64_t rows = 0;
};

/// Turns rows into segments: sorted by (partition tuple, key), stable, one run per
/// partition and row group.
///
/// A partition of at least min(1 MiB, row_group_bytes) in memory gets row groups of its
/// own; smaller ones share, in order. A run's bytes are its share of the row group by
/// size in memory; they add up to the row group's exactly. Metrics are kept only for a
/// run that fills its row group: only such a one can be copied into a data file
/// undecoded. Remembers how well the last segment was compressed. Not thread-safe.
class SegmentBuilder {
 public:
  /// Invalid, naming the field, if the spec or the sort order does not fit the schema.
  static Result<SegmentBuilder> Make(TableLayout layout, SegmentOptions options);

  /// `segment` only staggers the samples: segments of different names sample different
  /// quantiles. Without rows the segment holds nothing but its ranges. Invalid, naming
  /// the column, if the rows do not have the layout's schema or a required column is
  /// null.
  Result<FrozenSegment> Build(const std::vector<SegmentRows>& rows,
                              std::vector<SourceRange> ranges, std::string_view segment);

  const TableLayout& layout() const { return layout_; }

 private:
  SegmentBuilder(TableLayout layout, SegmentOptions options);

  TableLayout layout_;
  SegmentOptions options_;
  /// The table's columns, then the two hidden ones.
  types::Schema file_schema_;
  /// The partition fields as an order, so that tuples are compared as keys are.
  order::SortOrder partition_order_;
  std::string key_types_;
  /// Compressed bytes for each byte in memory, as last seen.
  double compression_ratio_;
};

}  // namespace firn::wal
