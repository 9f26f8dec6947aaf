#pragma once

#include <map>
#include <string>
#include <string_view>

#include "firn/core/runtime.h"
#include "firn/storage/object_store.h"

namespace firn::storage {

/// Objects in memory, for tests and simulations. Locations are "memory:///<key>".
/// Thread-safe.
class MemoryStore : public ObjectStore {
 public:
  /// `runtime` must outlive the store.
  explicit MemoryStore(Runtime& runtime) : runtime_(runtime), mutex_(runtime) {}

  Status PutWhole(std::string_view key, std::string_view bytes,
                  PutMode mode = PutMode::kOverwrite) override;
  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override;
  Result<std::string> GetWhole(std::string_view key) override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status Delete(std::string_view key) override;
  std::string Location(std::string_view key) const override;

 private:
  struct Object {
    std::string bytes;
    std::int64_t modified_us = 0;
  };

  /// REQUIRES: mutex_ is held.
  Result<const Object*> Find(std::string_view key) const;

  Runtime& runtime_;
  Mutex mutex_;
  std::map<std::string, Object, std::less<>> objects_;  // guarded by mutex_
};

}  // namespace firn::storage
