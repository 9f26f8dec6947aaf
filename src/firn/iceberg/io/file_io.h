#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/storage/object_store.h"

namespace firn::iceberg {

/// "file:/x", "file:///x" and "/x" are one location: the second. Locations of other
/// schemes stay as they are.
std::string NormalizeLocation(std::string_view location);

/// Reads and writes the objects that table metadata names by absolute location.
///
/// A location belongs to the store with the longest prefix that it starts with; what
/// follows the prefix is the key. No percent-decoding: a location is its path, character
/// by character, as Iceberg's own libraries have it. Immutable; as thread-safe as the
/// stores.
class FileIo {
 public:
  struct Mount {
    /// With a slash at the end: "file:///", "s3://bucket/".
    std::string prefix;
    /// Must outlive the FileIo.
    storage::ObjectStore* store = nullptr;
  };

  explicit FileIo(std::vector<Mount> mounts);

  /// The whole object. Errors as ObjectStore's, with the location in front; Invalid if no
  /// store is mounted for it.
  Result<std::string> Read(std::string_view location) const;

  /// Durable once it returns OK. Never replaces: the names that metadata gives are
  /// unique, and a file that is there already belongs to somebody else (AlreadyExists).
  Status WriteNew(std::string_view location, std::string_view bytes) const;

 private:
  struct Object {
    storage::ObjectStore* store;
    std::string key;
  };
  Result<Object> Resolve(std::string_view location) const;

  const std::vector<Mount> mounts_;
};

}  // namespace firn::iceberg
