#include "firn/storage/memory_store.h"

#include <utility>

#include "firn/storage/request_checks.h"

namespace firn::storage {

Status MemoryStore::PutWhole(std::string_view key, std::string_view bytes, PutMode mode) {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  Object object{.bytes = std::string(bytes),
                .modified_us = runtime_.Now().time_since_epoch().count()};
  MutexLock lock(mutex_);
  if (mode == PutMode::kIfAbsent && objects_.contains(key)) {
    return Error(ErrorKind::kAlreadyExists, "object '{}' is there already", key);
  }
  objects_.insert_or_assign(std::string(key), std::move(object));
  return Status::OK();
}

Result<const MemoryStore::Object*> MemoryStore::Find(std::string_view key) const {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  const auto found = objects_.find(key);
  if (found != objects_.end()) return &found->second;
  return Error(ErrorKind::kNotFound, "there is no object '{}'", key);
}

Result<std::string> MemoryStore::GetRange(std::string_view key, std::int64_t offset,
                                          std::int64_t length) {
  MutexLock lock(mutex_);
  FIRN_ASSIGN_OR_RETURN(const Object* object, Find(key));
  const auto size_bytes = static_cast<std::int64_t>(object->bytes.size());
  FIRN_RETURN_NOT_OK(ValidateRange(key, offset, length, size_bytes));
  return object->bytes.substr(static_cast<std::size_t>(offset),
                              static_cast<std::size_t>(length));
}

Result<std::string> MemoryStore::GetWhole(std::string_view key) {
  MutexLock lock(mutex_);
  FIRN_ASSIGN_OR_RETURN(const Object* object, Find(key));
  return object->bytes;
}

Result<std::vector<ObjectInfo>> MemoryStore::List(std::string_view prefix) {
  FIRN_RETURN_NOT_OK(ValidatePrefix(prefix));
  MutexLock lock(mutex_);
  std::vector<ObjectInfo> listed;
  for (auto entry = objects_.lower_bound(prefix);
       entry != objects_.end() && entry->first.starts_with(prefix); ++entry) {
    listed.push_back({.key = entry->first,
                      .size_bytes = static_cast<std::int64_t>(entry->second.bytes.size()),
                      .modified_us = entry->second.modified_us});
  }
  return listed;
}

Status MemoryStore::Delete(std::string_view key) {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  if (found != objects_.end()) objects_.erase(found);
  return Status::OK();
}

std::string MemoryStore::Location(std::string_view key) const {
  return fmt::format("memory:///{}", key);
}

}  // namespace firn::storage
