#pragma once

#include <set>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/storage/object_store.h"
#include "firn/wal/admission.h"
#include "firn/wal/load_manifest.h"
#include "firn/wal/wal_root.h"

/// What a table's positions may forget, so that they do not grow for ever: shards whose
/// writers are gone, and loads that ended.
namespace firn::wal {

/// Entries of Positions that nobody will need again.
struct Retired {
  std::set<ShardId> shards;
  /// By source id.
  std::set<std::string> sources;

  bool operator==(const Retired&) const = default;
};

/// What a commit may forget that leaves the table at `after`.
///
/// A shard: all its segments were taken and deleted, and its last object (the marker of a
/// closed one; nothing of a dead one, see DrainedSegments) is from before `over_since`. A
/// load: it ended before that, and nothing listed waits for the table. `shards` and
/// `loads` were listed after the positions were read. Pure.
Retired FindRetired(const Positions& after, const std::vector<ShardListing>& shards,
                    const std::vector<EndedLoad>& loads, WallTime over_since);

/// Deletes what the WAL still holds of shards and loads that `positions`, the table's,
/// have forgotten: markers and file lists. `over_since` as in FindRetired.
Status DeleteRetired(storage::ObjectStore& store, const TableUuid& table,
                     const Positions& positions, const std::vector<ShardListing>& shards,
                     const std::vector<EndedLoad>& loads, WallTime over_since);

}  // namespace firn::wal
