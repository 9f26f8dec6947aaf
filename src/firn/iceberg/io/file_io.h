#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/core/status.h"
#include "firn/storage/object_store.h"

namespace firn::iceberg {

/// Reads and writes the objects that table metadata names by absolute location.
///
/// A location belongs to the store with the longest prefix that it starts with, however
/// either is spelled (see storage/location.h); what follows the prefix is the key.
/// Immutable; as thread-safe as the stores.
class FileIo {
 public:
  struct Mount {
    /// A folder or bucket: "file:///", "s3://bucket/warehouse".
    std::string prefix;
    /// Must outlive the FileIo.
    storage::ObjectStore* store = nullptr;
    /// Why there is no store: what is asked for there fails so.
    Status problem;
  };

  /// Invalid if a prefix is no absolute location.
  static Result<FileIo> Make(std::vector<Mount> mounts);

  struct Object {
    storage::ObjectStore* store;
    std::string key;
  };
  /// Where an object lies, to read it in parts. Invalid if no store is mounted for it.
  Result<Object> Locate(std::string_view location) const;

  /// The whole object. Errors as ObjectStore's, with the location in front; Invalid if no
  /// store is mounted for it.
  Result<std::string> Read(std::string_view location) const;

  /// Durable once it returns OK. Never replaces: the names that metadata gives are
  /// unique, and a file that is there already belongs to somebody else (AlreadyExists).
  Status WriteNew(std::string_view location, std::string_view bytes) const;

  /// WriteNew for what is better not held in memory as a whole; see
  /// ObjectStore::PutInPieces.
  Result<std::unique_ptr<storage::ObjectWriter>> OpenNew(std::string_view location) const;

  /// OK also if there was no such object. Only for what no metadata names.
  Status Delete(std::string_view location) const;

 private:
  explicit FileIo(std::vector<Mount> mounts) : mounts_(std::move(mounts)) {}

  /// Prefixes spelled in one way, with a slash at the end.
  std::vector<Mount> mounts_;
};

}  // namespace firn::iceberg
