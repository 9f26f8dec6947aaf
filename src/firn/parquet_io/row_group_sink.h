#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <arrow/io/interfaces.h>

#include "firn/core/status.h"
#include "firn/parquet_io/row_group_source.h"

namespace firn::parquet_io {

/// A row group as it stands in a Parquet file of its own, whose column chunks were
/// written elsewhere.
struct EncodedRowGroup {
  Footer footer;
  /// That file from the end of the column chunks on: indexes and Bloom filters. Reads
  /// take offsets of the file.
  std::shared_ptr<arrow::io::RandomAccessFile> tail;
  /// Where the column chunks, which follow each other, begin in that file.
  std::int64_t begin = 0;
  /// How many bytes they take.
  std::int64_t bytes = 0;
};

/// Parts what libparquet writes of a file with one row group: the magic is dropped, the
/// column chunks go on to another stream, the rest is kept. Not thread-safe.
class RowGroupSink final : public arrow::io::OutputStream {
 public:
  /// `out` null: the column chunks are dropped, too.
  static Result<std::shared_ptr<RowGroupSink>> Make(
      std::shared_ptr<arrow::io::OutputStream> out);

  using OutputStream::Write;
  Status Write(const void* data, std::int64_t nbytes) override;

  /// The row group has ended: what is written from now on is kept.
  void BeginTail() { tail_begin_ = position_; }

  /// REQUIRES: BeginTail. Nothing may be written afterwards.
  Result<EncodedRowGroup> Finish(Footer footer);

  /// Offset in the file.
  Result<std::int64_t> Tell() const override { return position_; }
  Status Close() override { return Status::OK(); }
  bool closed() const override { return false; }

 private:
  RowGroupSink(std::shared_ptr<arrow::io::OutputStream> out,
               std::shared_ptr<arrow::io::BufferOutputStream> tail)
      : out_(std::move(out)), tail_(std::move(tail)) {}

  const std::shared_ptr<arrow::io::OutputStream> out_;
  const std::shared_ptr<arrow::io::BufferOutputStream> tail_;
  std::int64_t position_ = 0;
  std::optional<std::int64_t> tail_begin_;
};

}  // namespace firn::parquet_io
