#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn::storage {

/// A file of the local disk without a name, for this process only: its room is free again
/// when its last owner is gone, and when the process is, however that ends.
///
/// One caller appends at a time; any number may read at the same time. Errors name the
/// directory, and TMPDIR as the way to choose another.
class ScratchFile {
 public:
  /// Below $TMPDIR, or /tmp.
  static Result<std::shared_ptr<ScratchFile>> Make();

  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  Status Append(std::string_view bytes);
  std::int64_t size_bytes() const { return size_bytes_; }
  /// How many bytes were read: fewer than `nbytes` only at the end.
  Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t nbytes,
                              void* out) const;

 private:
  ScratchFile(std::string directory, int descriptor)
      : directory_(std::move(directory)), descriptor_(descriptor) {}

  const std::string directory_;
  const int descriptor_;
  std::int64_t size_bytes_ = 0;
};

}  // namespace firn::storage
