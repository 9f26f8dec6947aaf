#pragma once

#include <memory>

#include <arrow/buffer.h>
#include <parquet/metadata.h>

#include "firn/core/status.h"

namespace firn::parquet_io {

/// Corruption unless `bytes`, all of the column chunk, are pages whose bytes have the CRC
/// of their headers (Parquet format, "Checksumming"; a page without one passes), and
/// whose headers, which no CRC covers, say in sum what the chunk's metadata do. Data
/// pages are neither decompressed nor decoded. May throw as libparquet does.
Status CheckPages(const parquet::ColumnChunkMetaData& chunk,
                  const parquet::ColumnDescriptor& column,
                  const std::shared_ptr<arrow::Buffer>& bytes);

}  // namespace firn::parquet_io
