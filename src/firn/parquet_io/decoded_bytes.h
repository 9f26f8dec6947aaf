#pragma once

#include <cstdint>

#include "firn/parquet_io/row_group_source.h"

namespace firn::parquet_io {

/// What all values of a row group take once they are decoded into Arrow's arrays, from
/// above; 0 if the footer is damaged.
///
/// Texts and binaries: what the footer tells of them (Parquet, SizeStatistics,
/// unencoded_byte_array_data_bytes), which Firn's writer records. Where it does not tell:
/// their encoded size if they have no dictionary, else as if each value were the whole
/// dictionary. Other types: their width, after any promotion.
std::int64_t DecodedBytesOf(const Footer& footer, int row_group);

}  // namespace firn::parquet_io
