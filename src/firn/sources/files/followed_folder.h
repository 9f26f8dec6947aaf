#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::sources {

/// A folder whose files are taken as they come.
struct FolderOptions {
  std::string folder;
  /// glob(7) of names.
  std::string pattern = "*";
  /// A file that was not changed for so long is whole.
  Duration stable_for = std::chrono::seconds(5);
};

/// One of them, as it was when the folder was read.
struct FolderFile {
  std::string path;
  std::int64_t size_bytes = 0;
  /// Nanoseconds since 1970.
  std::int64_t modified_ns = 0;

  bool operator==(const FolderFile&) const = default;
};

/// The files of a folder that are whole, those changed longest ago first. What lies in
/// folders below it is left out, and so are names that say that they are still being
/// written: that begin with '.' or '_', or end in .tmp, .part or .partial. Empty files
/// are no files yet. Invalid, naming the folder, if it cannot be read.
Result<std::vector<FolderFile>> ListWholeFiles(const FolderOptions& options,
                                               WallTime now);

}  // namespace firn::sources
