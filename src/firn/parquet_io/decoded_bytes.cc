#include "firn/parquet_io/decoded_bytes.h"

#include <algorithm>

#include <parquet/metadata.h>
#include <parquet/size_statistics.h>

#include "firn/parquet_io/parquet_errors.h"

namespace firn::parquet_io {
namespace {

// Floating point: what a damaged footer says may overflow integers.

/// Of a value: in a list or of variable length.
constexpr double kOffsetBytes = 4;
/// Of a value, rounded up.
constexpr double kValidityBytes = 1;
constexpr double kDecimalBytes = 16;
/// What ints and floats become if the column was widened.
constexpr double kNumberBytes = 8;
constexpr double kBytesMost = 1LL << 62;

bool IsDecimal(const parquet::ColumnDescriptor& column) {
  return column.logical_type() != nullptr && column.logical_type()->is_decimal();
}

bool IsVariable(const parquet::ColumnDescriptor& column) {
  return column.physical_type() == parquet::Type::BYTE_ARRAY && !IsDecimal(column);
}

double WidthOf(const parquet::ColumnDescriptor& column) {
  if (IsDecimal(column)) return kDecimalBytes;
  switch (column.physical_type()) {
    case parquet::Type::BOOLEAN:
      return 1;
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      return column.type_length();
    default:
      return kNumberBytes;
  }
}

double BytesOfTexts(const parquet::ColumnChunkMetaData& chunk) {
  const auto sizes = chunk.size_statistics();
  if (sizes != nullptr && sizes->unencoded_byte_array_data_bytes) {
    return static_cast<double>(*sizes->unencoded_byte_array_data_bytes);
  }
  const auto encoded = static_cast<double>(chunk.total_uncompressed_size());
  return chunk.has_dictionary_page() ? static_cast<double>(chunk.num_values()) * encoded
                                     : encoded;
}

double BytesOfChunk(const parquet::ColumnDescriptor& column,
                    const parquet::ColumnChunkMetaData& chunk) {
  const double of_value = kValidityBytes + kOffsetBytes * column.max_repetition_level() +
                          (IsVariable(column) ? kOffsetBytes : WidthOf(column));
  return static_cast<double>(chunk.num_values()) * of_value +
         (IsVariable(column) ? BytesOfTexts(chunk) : 0);
}

}  // namespace

std::int64_t DecodedBytesOf(const Footer& footer, int row_group) {
  double bytes = 0;
  const Status read = Reading("", [&] {
    const auto metadata = footer->RowGroup(row_group);
    for (int column = 0; column < metadata->num_columns(); ++column) {
      bytes +=
          BytesOfChunk(*footer->schema()->Column(column), *metadata->ColumnChunk(column));
    }
    return Status::OK();
  });
  return read.ok() ? static_cast<std::int64_t>(std::clamp(bytes, 0.0, kBytesMost)) : 0;
}

}  // namespace firn::parquet_io
