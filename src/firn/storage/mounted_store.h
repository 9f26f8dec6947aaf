#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/storage/object_store.h"

namespace firn::storage {

/// Hands each key, as it is, to the store that is mounted for the longest folder that
/// the key lies in. Thread-safe.
class MountedStore : public ObjectStore {
 public:
  /// `base` takes what lies in no folder. `runtime` must outlive the store.
  MountedStore(Runtime& runtime, std::shared_ptr<ObjectStore> base)
      : base_(std::move(base)), mutex_(runtime) {}

  /// Does nothing if something is mounted there. `folder` has no slash at its end.
  void Mount(std::string folder, const std::shared_ptr<ObjectStore>& store);
  bool IsMounted(std::string_view folder);

  Status PutWhole(std::string_view key, std::string_view bytes,
                  PutMode mode = PutMode::kOverwrite) override;
  Result<std::unique_ptr<ObjectWriter>> PutInPieces(
      std::string_view key, PutMode mode = PutMode::kOverwrite) override;
  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override;
  Result<std::string> GetWhole(std::string_view key) override;
  /// Of one store: that of the folder that `prefix` names in full.
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status Delete(std::string_view key) override;
  std::string Location(std::string_view key) const override;

 private:
  ObjectStore& StoreOf(std::string_view key);

  const std::shared_ptr<ObjectStore> base_;
  Mutex mutex_;
  /// Guarded by mutex_; what is in it stays as long as this.
  std::map<std::string, std::shared_ptr<ObjectStore>, std::less<>> mounted_;
};

}  // namespace firn::storage
