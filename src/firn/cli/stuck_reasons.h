#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "firn/cli/logged_tables.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/shift/table_shift.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {

/// One thing that a table waits for.
struct StuckReason {
  /// For programs; docs/serving.md lists them.
  std::string kind;
  /// For people: a sentence or two, with what to do.
  std::string text;

  bool operator==(const StuckReason&) const = default;
};

/// When rows are shifted, or no longer taken.
struct StuckLimits {
  std::int64_t start_bytes = 0;
  Duration max_age{0};
  std::int64_t uncommitted_bytes_max = 0;
};

/// A commit to main.
struct SeenCommit {
  SnapshotId snapshot;
  WallTime time;
};

/// What is known of a table whose catalog answers.
struct StuckState {
  std::string table;
  WallTime now;
  StuckLimits limits;
  /// What keeps any shift from beginning: a rollback, a schema, a property.
  std::vector<StuckReason> obstacles;
  std::vector<wal::ShardListing> shards;
  shift::WalBacklog backlog;
  /// Rows of the backlog; nothing if they were not all counted.
  std::optional<std::int64_t> rows;
  std::vector<shift::JudgedHole> holes;
  std::vector<wal::WaitingShard> waiting;
  /// Of this WAL; nothing before the first, or once it expired.
  std::optional<SeenCommit> last_commit;
  /// That others made to main since.
  std::int64_t other_commits = 0;
  /// Segments of the table's dead letters that are in no table.
  std::int64_t waiting_letters = 0;
};

/// What the table waits for, the worst first; "nothing" if all durable rows are in it;
/// then what else is to be known. Never empty. Pure.
std::vector<StuckReason> FindReasons(const StuckState& state);

/// The same while the catalog does not answer, and so nobody knows how far tables are.
std::vector<StuckReason> FindReasonsWithoutCatalog(const Status& failure,
                                                   const std::vector<LoggedTable>& logged,
                                                   WallTime now);

}  // namespace firn::cli
