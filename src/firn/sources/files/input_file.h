#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/io/type_fwd.h>

#include "firn/core/status.h"

namespace firn::sources {

/// How far a file was read, in bytes as they lie on disk.
struct FileProgress {
  std::int64_t bytes_read = 0;
  /// Nothing for what has no known size: a pipe.
  std::optional<std::int64_t> bytes_total;
};

/// A file that is read from front to back, decompressed.
///
/// gzip (also of several members) and zstd are told by their first bytes. Errors name the
/// file; a stream that ends too early or is damaged is one. Used by one thread.
class InputFile {
 public:
  /// `path` is a file, a pipe, or "-" for standard input. NotFound if it is missing;
  /// Invalid if it cannot be read, or is named ".gz" or ".zst" and is not.
  static Result<InputFile> Open(const std::string& path);

  /// From a stream; `name` stands for it in errors.
  static Result<InputFile> Make(std::shared_ptr<arrow::io::InputStream> bytes,
                                std::string name, std::optional<std::int64_t> size);

  /// What errors call it.
  const std::string& name() const { return name_; }
  bool is_compressed() const { return is_compressed_; }

  /// The next bytes, which Read will give again; fewer than `bytes` only at the end.
  /// REQUIRES: `bytes` <= 4096. The view lives until the next Read.
  Result<std::string_view> Peek(std::int64_t bytes);

  /// Appends up to `bytes` to `text`; nothing is appended at the end.
  Status Read(std::int64_t bytes, std::string& text);

  FileProgress progress() const;

 private:
  InputFile() = default;

  std::string name_;
  bool is_compressed_ = false;
  std::optional<std::int64_t> size_;
  /// As on disk.
  std::shared_ptr<arrow::io::InputStream> raw_;
  /// Decompressed.
  std::shared_ptr<arrow::io::InputStream> text_;
};

}  // namespace firn::sources
