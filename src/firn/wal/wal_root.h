#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/storage/object_store.h"
#include "firn/wal/segment.h"

namespace firn::wal {

/// The id of a WAL root: the smallest `id-<ULID>` object in it. One is written if there
/// is none; of several who do that at once, all get the same (they agree by an object
/// `claim`, put only if it is absent).
Result<WalId> OpenWalRoot(Runtime& runtime, storage::ObjectStore& store);

/// As OpenWalRoot, but writes nothing: NotFound if the root has no id.
Result<WalId> ReadWalId(storage::ObjectStore& store);

/// Invalid if the WAL root lies at or under a table's location, where a clean-up of
/// orphaned files would delete it, or if one of both is no absolute location.
Status CheckOutsideTable(std::string_view wal_location, std::string_view table_location);

/// A segment as the listing shows it.
struct SegmentObject {
  SegmentName name;
  std::string key;
  /// 0 if it is missing, and only a quarantine marker speaks of it.
  std::int64_t size_bytes = 0;
  std::int64_t modified_us = 0;
  /// It is left out of the table (quarantine.h).
  bool quarantined = false;
};

struct ShardListing {
  ShardId shard;
  /// Its writer said that nothing will follow.
  bool closed = false;
  /// When its writer last wrote an object of the shard; microseconds since 1970.
  std::int64_t modified_us = 0;
  /// By sequence; those in quarantine, too.
  std::vector<SegmentObject> segments;
};

/// The shards of a table, by name; one flat listing. Objects of other names are left out.
Result<std::vector<ShardListing>> ListShards(storage::ObjectStore& store,
                                             const TableUuid& table);

}  // namespace firn::wal
