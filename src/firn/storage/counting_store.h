#pragma once

#include <atomic>
#include <cstdint>

#include "firn/storage/object_store.h"

namespace firn::storage {

/// Requests by kind, and the bytes that went through. Failed requests count as requests,
/// their bytes do not count.
struct RequestCounts {
  std::int64_t puts = 0;
  std::int64_t gets = 0;
  std::int64_t lists = 0;
  std::int64_t deletes = 0;
  std::int64_t failures = 0;
  std::int64_t put_bytes = 0;
  std::int64_t get_bytes = 0;

  bool operator==(const RequestCounts&) const = default;
};

/// Passes every request on to another store, which must outlive it, and counts. What
/// shows the counts as metrics stands above this module. Thread-safe.
class CountingStore : public ObjectStore {
 public:
  explicit CountingStore(ObjectStore& inner) : inner_(inner) {}

  Status PutWhole(std::string_view key, std::string_view bytes,
                  PutMode mode = PutMode::kOverwrite) override;
  /// Counts as one put, when it ends.
  Result<std::unique_ptr<ObjectWriter>> PutInPieces(
      std::string_view key, PutMode mode = PutMode::kOverwrite) override;
  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override;
  Result<std::string> GetWhole(std::string_view key) override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status Delete(std::string_view key) override;
  std::string Location(std::string_view key) const override;

  /// Since the store was made.
  RequestCounts counts() const;

 private:
  class Writer;
  using Count = std::atomic<std::int64_t>;

  Status Counted(Count& requests, Status status);
  Result<std::string> CountedGet(Result<std::string> bytes);

  ObjectStore& inner_;
  Count puts_ = 0;
  Count gets_ = 0;
  Count lists_ = 0;
  Count deletes_ = 0;
  Count failures_ = 0;
  Count put_bytes_ = 0;
  Count get_bytes_ = 0;
};

}  // namespace firn::storage
