#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/io/type_fwd.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include "firn/core/status.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/parquet_io/row_group_sink.h"
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
  /// created_by. The file is written into `sink`.
  static Result<std::unique_ptr<FileAssembler>> Make(
      std::shared_ptr<parquet::schema::GroupNode> schema,
      std::shared_ptr<parquet::WriterProperties> properties,
      std::shared_ptr<arrow::io::OutputStream> sink);

  /// Column i of the new row group is column `source_columns[i]` of the source. REQUIRES:
  /// they match (MatchColumns) and IsChunkCopyable.
  Result<WrittenRowGroup> Append(const RowGroupSource& source,
                                 const std::vector<int>& source_columns);

  /// Takes up a row group of the file's schema whose column chunks were just written into
  /// sink().
  Result<WrittenRowGroup> AppendEncoded(const EncodedRowGroup& encoded);

  const std::shared_ptr<arrow::io::OutputStream>& sink() const { return sink_; }
  const parquet::SchemaDescriptor& schema() const { return schema_; }
  std::int64_t bytes_written() const { return bytes_written_; }
  /// Compressed bytes of each leaf column so far.
  const std::vector<std::int64_t>& column_bytes() const { return column_bytes_; }

  /// Writes the footer, sealed if `key_values` hold AskForSeal (footer_seal.h).
  Status Finish(const std::vector<std::pair<std::string, std::string>>& key_values);

 private:
  struct Index {
    parquet::ColumnChunkId chunk;
    std::shared_ptr<arrow::Buffer> bytes;
  };

  /// A row group whose column chunks are in the sink, or come there one by one.
  struct Source {
    const parquet::RowGroupMetaData& row_group;
    /// The source's column chunks, in the order of the file's columns.
    const std::vector<std::unique_ptr<parquet::ColumnChunkMetaData>>& chunks;
    /// For indexes and Bloom filters.
    arrow::io::RandomAccessFile& file;
    /// Where the row group begins in the new file.
    std::int64_t offset = 0;
  };
  /// Puts a column chunk, the i-th of Source::chunks, into the sink if it is not there;
  /// tells by how much its offset grows.
  using PlaceChunk = std::function<Result<std::int64_t>(
      const parquet::ColumnChunkMetaData&, std::size_t)>;

  FileAssembler() = default;
  Status Write(const arrow::Buffer& bytes);
  Result<WrittenRowGroup> AddRowGroup(const Source& source, const PlaceChunk& place);
  Status AddChunk(const parquet::ColumnChunkMetaData& chunk,
                  arrow::io::RandomAccessFile& file, int column, std::int64_t moved_by);
  Status AppendBloomFilter(const parquet::ColumnChunkMetaData& chunk,
                           arrow::io::RandomAccessFile& file, int column);
  Status AppendIndexes(const parquet::ColumnChunkMetaData& chunk,
                       arrow::io::RandomAccessFile& file, int column,
                       std::int64_t moved_by);
  Status WriteIndexes(parquet::IndexKind kind, const std::vector<Index>& indexes);
  /// The key-values of kIndexCrcPrefix.
  std::map<std::string, std::string> IndexCrcs() const;
  Status WriteSealed(const parquet::FileMetaData& metadata);

  parquet::SchemaDescriptor schema_;
  std::shared_ptr<parquet::WriterProperties> properties_;
  std::shared_ptr<arrow::io::OutputStream> sink_;
  std::unique_ptr<parquet::FileMetaDataBuilder> metadata_;
  std::vector<Index> bloom_filters_;
  std::vector<Index> column_indexes_;
  std::vector<Index> offset_indexes_;
  std::vector<std::int64_t> column_bytes_;
  std::int64_t bytes_written_ = 0;
  /// The sink's first failure.
  Status write_failure_;
  int row_groups_ = 0;
};

}  // namespace firn::parquet_io
