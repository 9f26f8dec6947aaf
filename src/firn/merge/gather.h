#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"

namespace firn::merge {

/// `count` rows of source number `source`, from row `from` on.
struct Span {
  std::int32_t source = 0;
  std::int32_t count = 0;
  std::int64_t from = 0;

  bool operator==(const Span&) const = default;
};

/// The rows of `spans`, one span after the other, as one array of the sources' type.
///
/// Sources are of one type, one at least (Invalid otherwise), and may be slices. Long
/// spans are copied by memcpy, single rows without a call; one span alone is a slice that
/// copies nothing. Dictionaries that differ are unified; Invalid if the codes then
/// outgrow the index type, or the strings of the result their 32-bit offsets.
/// NotImplemented, naming the type, for unions, views, run-end encoding and extensions,
/// which no table column has. Thread-safe.
Result<std::shared_ptr<arrow::Array>> GatherColumn(
    const std::vector<std::shared_ptr<arrow::Array>>& sources,
    std::span<const Span> spans);

/// The same for all columns of record batches of one schema (Invalid otherwise), one
/// column at a time.
Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& sources,
    std::span<const Span> spans);

}  // namespace firn::merge
