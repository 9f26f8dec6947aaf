#include "firn/storage/mounted_store.h"

#include <utility>

namespace firn::storage {

void MountedStore::Mount(std::string folder, const std::shared_ptr<ObjectStore>& store) {
  MutexLock lock(mutex_);
  mounted_.try_emplace(std::move(folder), store);
}

bool MountedStore::IsMounted(std::string_view folder) {
  MutexLock lock(mutex_);
  return mounted_.contains(folder);
}

ObjectStore& MountedStore::StoreOf(std::string_view key) {
  MutexLock lock(mutex_);
  for (std::size_t end = key.rfind('/'); end != std::string_view::npos && end > 0;
       end = key.rfind('/', end - 1)) {
    const auto found = mounted_.find(key.substr(0, end));
    if (found != mounted_.end()) return *found->second;
  }
  return *base_;
}

Status MountedStore::PutWhole(std::string_view key, std::string_view bytes,
                              PutMode mode) {
  return StoreOf(key).PutWhole(key, bytes, mode);
}

Result<std::unique_ptr<ObjectWriter>> MountedStore::PutInPieces(std::string_view key,
                                                                PutMode mode) {
  return StoreOf(key).PutInPieces(key, mode);
}

Result<std::string> MountedStore::GetRange(std::string_view key, std::int64_t offset,
                                           std::int64_t length) {
  return StoreOf(key).GetRange(key, offset, length);
}

Result<std::string> MountedStore::GetWhole(std::string_view key) {
  return StoreOf(key).GetWhole(key);
}

Result<std::vector<ObjectInfo>> MountedStore::List(std::string_view prefix) {
  return StoreOf(prefix).List(prefix);
}

Status MountedStore::Delete(std::string_view key) { return StoreOf(key).Delete(key); }

std::string MountedStore::Location(std::string_view key) const {
  return base_->Location(key);
}

}  // namespace firn::storage
