#include "firn/types/memory_bytes.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>

namespace firn::types {
namespace {

/// Of bits that do not begin with a byte.
std::int64_t BitmapBytes(std::int64_t begin, std::int64_t bits) {
  return (begin + bits + 7) / 8 - begin / 8;
}

std::int64_t ValidityBytes(const arrow::Array& column) {
  if (column.null_bitmap() == nullptr) return 0;
  return BitmapBytes(column.offset(), column.length());
}

std::int64_t TextBytes(const arrow::BinaryArray& column) {
  const auto offset_bytes = static_cast<std::int64_t>(sizeof(std::int32_t));
  return column.length() * offset_bytes + column.total_values_length();
}

std::int64_t NumberBytes(const arrow::Array& column) {
  const std::int64_t bits = column.type()->bit_width();
  return BitmapBytes(column.offset() * bits, column.length() * bits);
}

Result<std::int64_t> ColumnBytes(const arrow::Array& column) {
  const arrow::Type::type kind = column.type_id();
  if (arrow::is_primitive(kind)) return ValidityBytes(column) + NumberBytes(column);
  if (kind == arrow::Type::STRING || kind == arrow::Type::BINARY) {
    return ValidityBytes(column) +
           TextBytes(static_cast<const arrow::BinaryArray&>(column));
  }
  return arrow::util::ReferencedBufferSize(column);
}

}  // namespace

Result<std::int64_t> MemoryBytes(const arrow::RecordBatch& rows) {
  std::int64_t bytes = 0;
  for (const auto& column : rows.columns()) {
    FIRN_ASSIGN_OR_RETURN(const std::int64_t column_bytes, ColumnBytes(*column));
    bytes += column_bytes;
  }
  return bytes;
}

}  // namespace firn::types
