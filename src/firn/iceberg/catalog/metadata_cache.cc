#include "firn/iceberg/catalog/metadata_cache.h"

#include <algorithm>

namespace firn::iceberg {

std::vector<MetadataCache::Entry>::iterator MetadataCache::Touch(
    const TableIdentifier& identifier) {
  const auto found = std::ranges::find(entries_, identifier, &Entry::identifier);
  if (found == entries_.end()) return found;
  std::rotate(found, found + 1, entries_.end());
  return entries_.end() - 1;
}

std::optional<LoadedTable> MetadataCache::Find(const TableIdentifier& identifier) {
  MutexLock lock(mutex_);
  const auto entry = Touch(identifier);
  if (entry == entries_.end()) return std::nullopt;
  return entry->table;
}

void MetadataCache::Put(const TableIdentifier& identifier, const LoadedTable& table) {
  MutexLock lock(mutex_);
  if (const auto entry = Touch(identifier); entry != entries_.end()) {
    entry->table = table;
    return;
  }
  if (entries_.size() == kTablesMax) entries_.erase(entries_.begin());
  entries_.push_back({identifier, table});
}

}  // namespace firn::iceberg
