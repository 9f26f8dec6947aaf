#include "firn/wal/row_bytes.h"

#include <algorithm>
#include <cstddef>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace firn::wal {
namespace {

using RowBytes = std::vector<std::int64_t>;

void AddRowBytes(const arrow::Array& array, RowBytes& rows);

void Accumulate(RowBytes& rows) {
  std::int64_t total = 0;
  for (std::int64_t& bytes : rows) bytes = total += bytes;
}

template <typename BinaryArray>
void AddTexts(const BinaryArray& array, RowBytes& rows) {
  for (std::int64_t row = 0; row < array.length(); ++row) {
    rows[static_cast<std::size_t>(row)] +=
        static_cast<std::int64_t>(array.value_length(row));
  }
}

/// Lists, and maps, which are lists of entries.
void AddLists(const arrow::ListArray& array, RowBytes& rows) {
  const std::shared_ptr<arrow::Array>& values = array.values();
  RowBytes before(static_cast<std::size_t>(values->length()) + 1, 0);
  RowBytes each(before.begin() + 1, before.end());
  AddRowBytes(*values, each);
  std::ranges::copy(each, before.begin() + 1);
  Accumulate(before);
  for (std::int64_t row = 0; row < array.length(); ++row) {
    const auto start = static_cast<std::size_t>(array.value_offset(row));
    const auto end = start + static_cast<std::size_t>(array.value_length(row));
    rows[static_cast<std::size_t>(row)] += before[end] - before[start];
  }
}

void AddFixedWidth(const arrow::Array& array, RowBytes& rows) {
  const auto* type = dynamic_cast<const arrow::FixedWidthType*>(array.type().get());
  const std::int64_t width = type == nullptr ? 1 : std::max(type->bit_width() / 8, 1);
  for (std::int64_t& bytes : rows) bytes += width;
}

void AddRowBytes(const arrow::Array& array, RowBytes& rows) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return AddTexts(static_cast<const arrow::BinaryArray&>(array), rows);
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return AddLists(static_cast<const arrow::ListArray&>(array), rows);
    case arrow::Type::STRUCT:
      for (const auto& field : static_cast<const arrow::StructArray&>(array).fields()) {
        AddRowBytes(*field, rows);
      }
      return;
    default:
      return AddFixedWidth(array, rows);
  }
}

}  // namespace

std::vector<std::int64_t> CumulativeRowBytes(const arrow::RecordBatch& batch) {
  RowBytes each(static_cast<std::size_t>(batch.num_rows()), 1);
  for (const auto& column : batch.columns()) AddRowBytes(*column, each);
  RowBytes before = {0};
  before.insert(before.end(), each.begin(), each.end());
  Accumulate(before);
  return before;
}

}  // namespace firn::wal
