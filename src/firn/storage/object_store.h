#pragma once

#include <cstdint>
#include <memory>
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
  /// AlreadyExists if something is there; it is durable then.
  kIfAbsent,
};

/// An object that is written piece by piece, and is there, whole, only once Finish has
/// returned OK. Destroyed without that, it leaves nothing behind. Errors as
/// ObjectStore's; after one only the destructor may be called. Not thread-safe.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;

  virtual Status Append(std::string_view bytes) = 0;

  /// Durable and atomic once it returns OK. Nothing may be called afterwards.
  virtual Status Finish() = 0;
};

/// A flat store of immutable objects: a local directory, a bucket, memory.
///
/// Keys are relative, parts joined by '/'. A part is not empty, not "." or "..", holds no
/// NUL byte, and does not start with ".firn-" (the stores' own temporary names); anything
/// else is Invalid. No key may be a folder of another: "a" and "a/b" do not go together.
/// Errors: NotFound; Unavailable where a later attempt may succeed
/// (time-outs, throttling), after the store's own retries; OutcomeUnknown where a Put or
/// Delete may have been applied; no kind otherwise (permission, no space), with the
/// store's own words. Thread-safe.
///
/// Reading in place: an object of a local store is a plain file whose bytes never change,
/// so a reader may open `LocalPathOf(store.Location(key))` (location.h) itself, and falls
/// back to GetRange when that is an error. This also works through wrapping stores.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Durable and atomic once it returns OK: readers see all of `bytes` or nothing.
  virtual Status PutWhole(std::string_view key, std::string_view bytes,
                          PutMode mode = PutMode::kOverwrite) = 0;

  /// PutWhole for what is better not held in memory as a whole; errors may come from the
  /// writer's calls, too. The store must outlive the writer.
  ///
  /// Unless a store overrides it (all but MemoryStore do), the writer holds the bytes
  /// until it is finished, and then calls PutWhole.
  virtual Result<std::unique_ptr<ObjectWriter>> PutInPieces(
      std::string_view key, PutMode mode = PutMode::kOverwrite);

  /// Exactly `length` bytes from `offset` on. Corruption if the object is shorter:
  /// callers know the size.
  virtual Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                                       std::int64_t length) = 0;

  /// All of an object, for callers who do not know its size. NotFound if it is not there.
  virtual Result<std::string> GetWhole(std::string_view key) = 0;

  /// Every object whose key starts with `prefix`, in byte order of the keys. `prefix` is
  /// text, not a folder: "" lists all, and "a" lists "ab" too. What is put or deleted
  /// meanwhile may or may not be listed.
  ///
  /// What is listed is durable, also where its writer crashed before it could tell: so
  /// whoever makes a position durable may rely on it.
  virtual Result<std::vector<ObjectInfo>> List(std::string_view prefix) = 0;

  /// OK also if there was no such object. Not durable: after a power failure the object
  /// may be back.
  virtual Status Delete(std::string_view key) = 0;

  /// The absolute location of a key, as Iceberg metadata holds it: "file:///data/x" or
  /// "s3://bucket/x". Of a folder too; "" is the store's root.
  virtual std::string Location(std::string_view key) const = 0;
};

}  // namespace firn::storage
