#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/reason_class.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// A record of a file that does not fit the schema, or is no record at all.
struct RejectedRecord {
  /// Counted from 0 over the file.
  std::int64_t record = 0;
  /// Where it starts, counted from 1; nothing where a file has no lines.
  std::optional<std::int64_t> line;
  /// Its bytes as they stand in the file; as JSON where they are no text.
  std::string raw;
  std::string reason;
  ReasonClass reason_class = ReasonClass::kInvalidValue;

  bool operator==(const RejectedRecord&) const = default;
};

/// Why a row does not fit.
struct Rejection {
  std::string text;
  ReasonClass reason_class = ReasonClass::kInvalidValue;
};

/// Rows of a batch that do not fit, by index, with the first reason that was found.
using Rejections = std::map<std::int64_t, Rejection>;

/// Adds the rows with a value that its type does not have, at any depth: a required field
/// is null, a string is not UTF-8, a time is none of a day, a decimal has more digits
/// than its precision, a map has a key twice (Iceberg spec, "Schemas and Data Types").
/// REQUIRES: columns as in ToArrowSchema, but for that.
void RejectInvalidRows(const arrow::RecordBatch& rows, const types::Schema& schema,
                       Rejections& rejections);

/// The rows without those.
Result<std::shared_ptr<arrow::RecordBatch>> WithoutRejected(
    const std::shared_ptr<arrow::RecordBatch>& rows, const Rejections& rejections);

/// Indexes of the rows without those.
std::vector<std::int64_t> RowsThatFit(std::int64_t row_count,
                                      const Rejections& rejections);

/// A value as a message shows it: quoted, cut if it is long.
std::string Shown(std::string_view value);

}  // namespace firn::sources
