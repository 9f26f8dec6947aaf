#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"

namespace firn::storage {

struct ObjectInfo {
  std::string key;
  std::int64_t size_bytes = 0;
  /// Microseconds since 1970, by the store's clock.
  std::int64_t modified_us = 0;

  bool operator==(const ObjectInfo&) const = default;
};

enum class PutMode {
  /// Replaces what is there.
  kOverwrite,
  /// AlreadyExists if something is there.
  kIfAbsent,
};

/// A flat store of immutable objects: a local directory, a bucket, memory.
///
/// Keys are relative, parts joined by '/', with no empty part, "." or ".."; anything else
/// is Invalid. Errors: NotFound; Unavailable where a later attempt may succeed
/// (time-outs, throttling), after the store's own retries; OutcomeUnknown where a Put or
/// Delete may have been applied; no kind otherwise (permission, no space), with the
/// store's own words. Thread-safe.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Durable and atomic once it returns OK: readers see all of `bytes` or nothing.
  virtual Status PutWhole(std::string_view key, std::string_view bytes,
                          PutMode mode = PutMode::kOverwrite) = 0;

  /// Exactly `length` bytes from `offset` on. Corruption if the object is shorter:
  /// callers know the size.
  virtual Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                                       std::int64_t length) = 0;

  /// All of an object, for callers who do not know its size. NotFound if it is not there.
  virtual Result<std::string> GetWhole(std::string_view key) = 0;

  /// Every object whose key starts with `prefix`, in byte order of the keys. `prefix` is
  /// text, not a folder:
  /// "" lists all, and "a" lists "ab" too.
  virtual Result<std::vector<ObjectInfo>> List(std::string_view prefix) = 0;

  /// OK also if there was no such object.
  virtual Status Delete(std::string_view key) = 0;

  /// For messages and metadata: an absolute location of a key, "file:///data/x" or
  /// "s3://bucket/x".
  virtual std::string Location(std::string_view key) const = 0;
};

}  // namespace firn::storage
