#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/order/key_encoder.h"

namespace firn::merge {

/// Rows of a run, and their full keys (never truncated), in key order. One key per row;
/// a table without a sort order has empty keys, or none at all.
struct RunBatch {
  std::shared_ptr<arrow::RecordBatch> rows;
  order::EncodedKeys keys;
};

/// The rows of one run, or of a slice of it, in key order. Not thread-safe.
class RunReader {
 public:
  virtual ~RunReader() = default;

  /// The next few thousand rows; `rows` is null at the end. The merge holds one batch of
  /// each open run, so their size is what its memory follows.
  virtual Result<RunBatch> Next() = 0;
};

/// A run that is opened only when the merge reaches its first key.
class MergeInput {
 public:
  virtual ~MergeInput() = default;

  /// Not above the key of the first row (it may be truncated). The view lives as long as
  /// the input.
  virtual std::string_view first_key() const = 0;
  /// Not below the key of the last row; nothing if unknown or unbounded.
  virtual std::optional<std::string_view> last_key() const = 0;
  /// True if the run fills a row group that the writer could take as it is, if nothing
  /// overlaps it.
  virtual bool is_whole_row_group() const = 0;

  /// Called once at most, and never for a run that the merge hands out as a whole row
  /// group.
  virtual Result<std::unique_ptr<RunReader>> Open() = 0;
};

}  // namespace firn::merge
