#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/catalog.h"

namespace firn::iceberg {

/// The metadata that a process last read or wrote of each table: a metadata file never
/// changes, so as long as the catalog names the same one it is not read again.
///
/// Holds the kTablesMax tables that were asked for last. Thread-safe.
class MetadataCache {
 public:
  static constexpr std::size_t kTablesMax = 64;

  explicit MetadataCache(Runtime& runtime) : mutex_(runtime) {}

  /// What is held of the table, of whichever location; nothing if nothing is.
  std::optional<LoadedTable> Find(const TableIdentifier& identifier);

  /// In the place of what was held of the table.
  void Put(const TableIdentifier& identifier, const LoadedTable& table);

 private:
  struct Entry {
    TableIdentifier identifier;
    LoadedTable table;
  };

  /// To the end, where the newest stand; the end if there is none.
  std::vector<Entry>::iterator Touch(const TableIdentifier& identifier);

  Mutex mutex_;
  std::vector<Entry> entries_;  // guarded by mutex_
};

}  // namespace firn::iceberg
