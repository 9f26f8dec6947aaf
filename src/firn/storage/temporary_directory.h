#pragma once

#include <string>

#include "firn/core/status.h"

namespace firn::storage {

/// A new directory for its owner only, removed with all that is in it by the destructor.
/// For tests.
class TemporaryDirectory {
 public:
  /// Below $TMPDIR, or /tmp.
  static Result<TemporaryDirectory> Make();

  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;  // empty once moved away
};

}  // namespace firn::storage
