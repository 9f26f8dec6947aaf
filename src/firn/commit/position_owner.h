#pragma once

#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/wal/wal_root.h"

/// Whose the positions in a table's properties are. All pure.
///
/// Properties get copied: "CREATE TABLE LIKE", a script that makes tables alike. So they
/// name their table, and those of another one count as absent. Damage must not look like
/// that: a table that seems to stand at the start takes all rows of its log again.
namespace firn::commit {

inline constexpr std::string_view kTableUuidProperty = "firn.table-uuid";
inline constexpr std::string_view kSnapshotProperty = "firn.snapshot";
inline constexpr std::string_view kSequenceProperty = "firn.sequence";
inline constexpr std::string_view kCommitPrefix = "firn.commit.";
inline constexpr std::string_view kWalPrefix = "firn.wal.";

/// True if the positions are this table's; false if they were copied from another table,
/// or there are none.
///
/// Corruption, naming property, value and what to do, if
/// - the property is no UUID, or missing beside other positions;
/// - it names another table, or there are no positions, and yet firn.snapshot is a
///   snapshot of this table, or main has commits of Firn: snapshot ids are made for one
///   table, and a copy of properties brings no snapshots along.
Result<bool> PositionsAreOwn(const iceberg::TableMetadata& metadata);

/// What PositionsAreOwn cannot see once expiry took all of Firn's snapshots: Corruption
/// if positions that count as copied name a shard of `shards`, the listing of this
/// table's log. A shard is of one table.
Status CheckAreNotOfShards(const iceberg::TableMetadata& metadata, const WalId& wal,
                           const std::vector<wal::ShardListing>& shards);

}  // namespace firn::commit
