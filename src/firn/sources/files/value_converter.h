#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// A row that does not fit the schema.
struct RejectedRow {
  /// Index in the batch that was converted.
  std::int64_t row = 0;
  /// The first column that does not fit, its value, and the type that was expected.
  std::string reason;

  bool operator==(const RejectedRow&) const = default;
};

struct ConvertedBatch {
  /// The rows that fit, in their order; columns as in ToArrowSchema.
  std::shared_ptr<arrow::RecordBatch> batch;
  /// Index of each of them in the batch that was converted.
  std::vector<std::int64_t> rows;
  /// Ascending by row.
  std::vector<RejectedRow> rejected;
};

/// Turns columns of text into those of a schema. Immutable, thread-safe.
class ValueConverter {
 public:
  /// Invalid, naming the column, if the schema has one that text cannot give: a struct,
  /// list or map.
  static Result<ValueConverter> Make(types::Schema schema);

  /// Columns are matched by name; one that `texts` lacks is null. Values are read as
  /// FromText does. Invalid, naming the column, if the schema does not have it, or
  /// requires one that is not there. REQUIRES: all columns are utf8.
  Result<ConvertedBatch> Convert(const arrow::RecordBatch& texts) const;

 private:
  explicit ValueConverter(types::Schema schema);

  types::Schema schema_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
};

}  // namespace firn::sources
