#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn::storage {

/// An absolute location in its parts. Two spellings of one place compare equal:
/// "/x", "file:/x", "file:///x" and "file://localhost/x".
struct Location {
  /// Lower case; "file" for a plain path.
  std::string scheme;
  /// The bucket, or a host. Empty for files.
  std::string authority;
  /// Starts with '/', or is empty. For files without repeated or trailing slashes.
  std::string path;

  bool operator==(const Location&) const = default;
};

/// Nothing is decoded: in Iceberg's locations '%', '#', '?' and blanks stand for
/// themselves, as Hadoop's Path and PyIceberg's FileIO read them. Invalid for a relative
/// path or a file on another host.
Result<Location> ParseLocation(std::string_view text);

/// The path of a file location; Invalid for any other scheme.
Result<std::string> LocalPathOf(std::string_view location);

/// "file://" and the path as it is. A path with '#', '?' or a line break or tab stays a
/// plain path: PyIceberg would cut the path of a URI there, and takes a plain one whole.
/// REQUIRES: `path` is absolute.
std::string LocationOfLocalPath(std::string_view path);

}  // namespace firn::storage
