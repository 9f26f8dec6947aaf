#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/io/type_fwd.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include "firn/core/status.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/parquet_io/row_group_source.h"

namespace firn::parquet_io {

/// True if a copy can state in its footer what the source's states of this column chunk:
/// the codec, and which encodings its pages have.
bool IsChunkCopyable(const parquet::ColumnChunkMetaData& chunk,
                     parquet::Compression::type codec);

/// True if the chunk has a Bloom filter that a copy can move: old writers do not state
/// its length.
bool HasBloomFilter(const parquet::ColumnChunkMetaData& chunk);

/// Puts a Parquet file together from row groups that are encoded already: bytes of column
/// chunks are moved, offsets rebased; statistics, size statistics, and, of the columns
/// that shall have them, page index and Bloom filters go along.
class FileAssembler {
 public:
  /// `properties` states what the footer says of every row group: codec, sorting columns,
  /// created_by.
  static Result<std::unique_ptr<FileAssembler>> Make(
      std::shared_ptr<parquet::schema::GroupNode> schema,
      std::shared_ptr<parquet::WriterProperties> properties);

  /// Column i of the new row group is column `source_columns[i]` of the source. REQUIRES:
  /// they match (MatchColumns) and IsChunkCopyable.
  Result<WrittenRowGroup> Append(const RowGroupSource& source,
                                 const std::vector<int>& source_columns);

  const parquet::SchemaDescriptor& schema() const { return schema_; }
  std::int64_t bytes_written() const { return bytes_written_; }
  /// Compressed bytes of each leaf column so far.
  const std::vector<std::int64_t>& column_bytes() const { return column_bytes_; }

  Result<std::shared_ptr<arrow::Buffer>> Finish(
      const std::vector<std::pair<std::string, std::string>>& key_values);

 private:
  struct Index {
    parquet::ColumnChunkId chunk;
    std::shared_ptr<arrow::Buffer> bytes;
  };

  FileAssembler() = default;
  Status Write(const arrow::Buffer& bytes);
  Status AppendChunk(const parquet::ColumnChunkMetaData& chunk,
                     arrow::io::RandomAccessFile& file, int column,
                     parquet::ColumnChunkMetaDataBuilder& copy);
  Status AppendBloomFilter(const parquet::ColumnChunkMetaData& chunk,
                           arrow::io::RandomAccessFile& file, int column);
  Status AppendIndexes(const parquet::ColumnChunkMetaData& chunk,
                       arrow::io::RandomAccessFile& file, int column,
                       std::int64_t moved_by);
  Status WriteIndexes(parquet::IndexKind kind, const std::vector<Index>& indexes);

  parquet::SchemaDescriptor schema_;
  std::shared_ptr<parquet::WriterProperties> properties_;
  std::shared_ptr<arrow::io::BufferOutputStream> sink_;
  std::unique_ptr<parquet::FileMetaDataBuilder> metadata_;
  std::vector<Index> bloom_filters_;
  std::vector<Index> column_indexes_;
  std::vector<Index> offset_indexes_;
  std::vector<std::int64_t> column_bytes_;
  std::int64_t bytes_written_ = 0;
  int row_groups_ = 0;
};

}  // namespace firn::parquet_io
