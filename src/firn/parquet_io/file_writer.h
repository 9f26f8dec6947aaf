#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/parquet_io/column_metrics.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/storage/object_store.h"
#include "firn/types/schema.h"

namespace firn::parquet_io {

enum class Codec { kUncompressed, kSnappy, kGzip, kZstd, kLz4 };

/// A column by which the rows of the file are sorted; goes into the footer's sorting
/// columns.
struct SortingColumn {
  FieldId field_id = 0;
  bool descending = false;
  bool nulls_first = false;
};

/// A Bloom filter for each row group of a column (Parquet's split-block filter).
struct BloomFilter {
  /// What the format allows; in between are powers of two.
  static constexpr std::int64_t kBytesLeast = 32;
  static constexpr std::int64_t kBytesMost = 128LL << 20;

  /// The false-positive probability it is sized for, in (0, 1).
  double false_positives = 0.01;
  /// Of one filter. A row group with more values than fit in it at that probability gets
  /// a filter that says "maybe" more often; one with fewer gets a smaller filter.
  std::int64_t bytes_max = 1LL << 20;

  bool operator==(const BloomFilter&) const = default;
};

/// Iceberg's write.parquet.* and write.metadata.metrics.* properties, and the file's sort
/// order.
struct FileWriterOptions {
  Codec codec = Codec::kZstd;
  int compression_level = 3;
  /// Compressed bytes at which a row group ends by itself; an estimate, from what was
  /// compressed so far.
  std::int64_t row_group_bytes = 128LL << 20;
  std::int64_t page_bytes = 1LL << 20;
  std::int64_t dictionary_bytes = 2LL << 20;
  MetricsConfig metrics;
  std::vector<SortingColumn> sorting_columns;
  bool page_index = true;
  /// Primitive columns, at any depth, but not boolean ones.
  std::map<FieldId, BloomFilter> bloom_filters;
};

struct WrittenRowGroup {
  /// Of its first byte in the file.
  std::int64_t offset = 0;
  std::int64_t rows = 0;
  /// Total compressed size of its columns.
  std::int64_t bytes = 0;
};

struct WrittenFile {
  /// Null if the file went into an object.
  std::shared_ptr<arrow::Buffer> bytes;
  std::int64_t size_bytes = 0;
  std::int64_t rows = 0;
  std::vector<WrittenRowGroup> row_groups;
  FileMetrics metrics;
  /// Compressed bytes of each primitive column.
  std::map<FieldId, std::int64_t> column_sizes;
};

/// Writes one Parquet file, into memory or into an object. Not thread-safe.
///
/// Field ids of `schema` stand in the file, types and layout as Iceberg's spec asks
/// (Appendix A, "Parquet"); statistics are collected while writing, nothing is read
/// again. After an error only the destructor may be called.
///
/// The open row group is held in memory, compressed. When it ends it is written out
/// column by column, as a copied one is.
class FileWriter {
 public:
  /// Invalid if a sorting column or one with a Bloom filter is no primitive column of
  /// `schema`, a filter's figures are out of range, the codec does not know the level, or
  /// a struct has no fields.
  static Result<std::unique_ptr<FileWriter>> Make(const types::Schema& schema,
                                                  const FileWriterOptions& options);

  /// Appends what it writes to `object`, which is the caller's to finish, and must
  /// outlive the writer. Fails with what `object` fails with, too.
  static Result<std::unique_ptr<FileWriter>> Make(const types::Schema& schema,
                                                  const FileWriterOptions& options,
                                                  storage::ObjectWriter& object);
  virtual ~FileWriter() = default;

  /// Appends rows to the open row group. `batch`'s columns are ToArrowSchema(schema)'s in
  /// order and type (dictionary-encoded columns allowed, names not looked at); Invalid,
  /// naming the column, if not, or if a required column, at any depth, has nulls. Ends
  /// the row group whenever it has reached row_group_bytes, also within a batch.
  virtual Status Write(const arrow::RecordBatch& batch) = 0;

  /// Ends the open row group; does nothing if it has no rows.
  virtual Status EndRowGroup() = 0;

  /// Appends a row group of another file without decoding it: compressed bytes are moved,
  /// columns that `schema` does not have are left out. Ends the open row group first.
  /// `metrics` are those of its rows. Invalid if IsVerbatimCopyable says no; Corruption
  /// if the source is damaged.
  virtual Status CopyRowGroup(const RowGroupSource& source,
                              const FileMetrics& metrics) = 0;

  /// Bytes written so far, and an estimate of the open row group's. Not const: now and
  /// then it compresses a sample of the rows to find out.
  virtual std::int64_t bytes_estimate() = 0;

  /// The row groups that have ended so far.
  virtual const std::vector<WrittenRowGroup>& row_groups() const = 0;

  /// Ends the file. Nothing may be called afterwards.
  virtual Result<WrittenFile> Finish(
      std::vector<std::pair<std::string, std::string>> key_values) = 0;
};

/// True if the row group can be copied into a file of this schema and these options as it
/// is: the same columns (by field id, physical and logical type, repetition; names may
/// differ, further columns of the source are left out), and the same codec.
///
/// A column with a Bloom filter is copied only with a filter, which goes along as it is,
/// whatever its size: filters are made where values are encoded. Segments of the WAL have
/// none (most are merged, where a filter is made anew), so for a table with Bloom filters
/// every row group is re-encoded.
bool IsVerbatimCopyable(const types::Schema& schema, const FileWriterOptions& options,
                        const RowGroupSource& source);

}  // namespace firn::parquet_io
