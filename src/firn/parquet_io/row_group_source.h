#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/io/type_fwd.h>
#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/storage/object_store.h"
#include "firn/types/schema.h"

namespace parquet {
class FileMetaData;
}

namespace firn::parquet_io {

/// A parsed footer. Immutable, shared.
using Footer = std::shared_ptr<parquet::FileMetaData>;

/// Bytes of the tail that ReadFooter asks for at once.
inline constexpr std::int64_t kFooterReadBytes = 64 << 10;

/// One GET of the tail; a second one only if the footer is longer than kFooterReadBytes.
/// Corruption, naming the object, if it is not a Parquet file.
Result<Footer> ReadFooter(storage::ObjectStore& store, const std::string& key,
                          std::int64_t size_bytes);

/// Of a column that is read from near, what is read at once.
inline constexpr std::int64_t kNearReadBytes = 64 << 10;

/// A file's bytes for random access: every ReadAt is one GetRange, nothing is cached.
/// `store` must outlive it. ReadAt is thread-safe, Read and Seek are not.
std::shared_ptr<arrow::io::RandomAccessFile> OpenObject(storage::ObjectStore& store,
                                                        std::string key,
                                                        std::int64_t size_bytes);

/// One row group of an open file.
struct RowGroupSource {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  Footer footer;
  int row_group = 0;
  /// Names the file in messages.
  std::string name;
  /// A read costs little, as of memory or a local file: what is read then is not fetched
  /// before it is decoded.
  bool is_near = false;
};

/// What the columns of a row group take together; zeros if the footer is damaged.
struct RowGroupBytes {
  std::int64_t compressed = 0;
  /// Decompressed, and still encoded.
  std::int64_t uncompressed = 0;
  /// What reading it from near holds at once, without the batches: of each column a page,
  /// a dictionary, and compressed bytes that wait. For pages and dictionaries as Firn
  /// writes them by default; others may be larger.
  std::int64_t open = 0;
};

RowGroupBytes BytesOf(const Footer& footer, int row_group);

/// Reads rows [first_row, first_row + rows) of a row group as record batches of at most
/// `batch_rows` rows, with columns as in ToArrowSchema(schema).
///
/// Columns are found by field id, at any depth: renamed ones are read under the new name,
/// widened ones are promoted, missing optional ones are null (a missing required one is
/// Corruption). Columns of the file that `schema` does not name are not read. The
/// compressed bytes of the columns are fetched here, all at once, neighbours together,
/// unless the source is near; decoding happens batch by batch, in the caller's thread.
/// Malformed bytes are
/// Corruption, here or from the reader; a row group or range that is not there is
/// Invalid.
Result<std::unique_ptr<arrow::RecordBatchReader>> ReadRowGroup(
    const RowGroupSource& source, const types::Schema& schema, std::int64_t first_row,
    std::int64_t rows, std::int64_t batch_rows);

}  // namespace firn::parquet_io
