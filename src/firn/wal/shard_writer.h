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

struct ShardWriterOptions {
  /// First part of the shard's name, for people: letters, digits, '.', '_' and '-'.
  std::string node;
  /// Readers take a shard that was silent for so long for dead.
  Duration dead_after = std::chrono::hours(24);
  /// PUTs of one segment before the writer gives up, and the waits between them, which
  /// double up to a limit.
  int attempts_max = 8;
  Duration retry_wait_first = std::chrono::milliseconds(100);
  Duration retry_wait_max = std::chrono::seconds(10);
};

/// The one writer of a shard: segments 1, 2, 3, ... of one table.
///
/// Nobody else ever writes there, so nothing is locked and no write is conditional. A
/// segment's bytes are the same in every attempt. Not thread-safe.
class ShardWriter {
 public:
  /// `store` is the WAL root. Invalid if `options.node` cannot be part of a name. Writes
  /// nothing yet.
  static Result<ShardWriter> Open(Runtime& runtime, storage::ObjectStore& store,
                                  TableUuid table, ShardWriterOptions options);

  /// The name that the next segment gets, unless the shard is replaced before.
  SegmentName next_segment() const;

  /// Returns the segment's name once it and all below it are durable: only then may its
  /// rows be acknowledged.
  ///
  /// A shard that made nothing durable for a quarter of `dead_after` is closed and
  /// replaced by a new one first, since readers may soon take it for dead. If that time
  /// passes while the PUT is under way, or after `attempts_max` attempts, the shard ends:
  /// this call fails (OutcomeUnknown if the segment may be there all the same) and so do
  /// all later ones. What it held must then not be written again, except rows that carry
  /// a source range.
  Result<SegmentName> Write(std::string_view bytes);

  /// Leaves the marker that says that no segment will follow, if there is any segment and
  /// the shard has not ended.
  Status Close();

 private:
  ShardWriter(Runtime& runtime, storage::ObjectStore& store, TableUuid table,
              ShardWriterOptions options);

  void StartShard();
  bool IsSilent() const;
  Status PutWithRetries(const std::string& key, std::string_view bytes);
  Status End(const SegmentName& segment, const Status& reason);

  Runtime* runtime_;
  storage::ObjectStore* store_;
  TableUuid table_;
  ShardWriterOptions options_;
  ShardId shard_;
  SegmentSequence last_durable_;
  BootTime last_durable_time_;
  /// Failed once the shard has ended.
  Status state_;
};

/// The marker of a shard that its writer closed, below the WAL root.
std::string ClosedMarkerKey(const TableUuid& table, const ShardId& shard);

}  // namespace firn::wal
