#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/types/schema.h"

namespace firn::shift {

/// Row groups that hold runs of many partitions, read by one task.
///
/// A reader that has come to the end of one run stays open, and goes on with the next:
/// whoever asks for the runs of a row group in its order has it decoded once. For one
/// thread; must outlive its readers.
class SharedRowGroups {
 public:
  /// A row group of the task: its segment, by whatever number, and its index there.
  using Id = std::pair<std::uint32_t, std::uint32_t>;

  struct Rows {
    std::int64_t first = 0;
    std::int64_t count = 0;
    /// Of the whole row group.
    std::int64_t row_group_rows = 0;
  };

  /// As parquet_io::ReadRowGroup. `source` and `schema` are the same each time for one
  /// id.
  Result<std::unique_ptr<arrow::RecordBatchReader>> Read(
      Id id, const parquet_io::RowGroupSource& source, const types::Schema& schema,
      const Rows& rows, std::int64_t batch_rows);

  /// Row groups that were opened so far, each time counted.
  std::int64_t opened() const { return opened_; }

 private:
  class Reader;
  struct Cursor {
    std::shared_ptr<arrow::RecordBatchReader> batches;
    /// Decoded, and not yet handed out; null if there is none.
    std::shared_ptr<arrow::RecordBatch> rest;
    /// The first row of what is left.
    std::int64_t row = 0;

    /// At most `count` of the next rows, one at least.
    Result<std::shared_ptr<arrow::RecordBatch>> Take(std::int64_t count);
  };

  std::map<Id, Cursor> idle_;
  std::int64_t opened_ = 0;
};

}  // namespace firn::shift
