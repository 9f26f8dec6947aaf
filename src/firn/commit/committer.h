#pragma once

#include <optional>
#include <string>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/commit/commit_metrics.h"
#include "firn/commit/commit_retry.h"
#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/update/new_snapshot.h"

namespace firn::commit {

/// A batch whose files are older is superseded: clean-ups of orphaned files delete what
/// no snapshot names, by default after three days, and its files may be among that. Half
/// of it is left for clocks, and for the commit.
inline constexpr Duration kBatchAgeMax = std::chrono::hours(36);

enum class BatchState {
  kCommitted,
  /// The batch was planned from something that is not, or no longer, the table's state:
  /// plan its input again. Its files stay for orphan clean-up.
  kSuperseded,
};

struct BatchOutcome {
  BatchState state = BatchState::kCommitted;
  /// The snapshot that holds a committed batch; nothing if it had expired before the
  /// outcome was known.
  std::optional<SnapshotId> snapshot = std::nullopt;

  bool operator==(const BatchOutcome&) const = default;
};

/// The table that a Committer serves, and the WAL that its batches come from.
struct CommitterOptions {
  iceberg::TableIdentifier table;
  /// Of the table that the files were written for: one that was dropped and made again
  /// under the same name is another table.
  TableUuid table_uuid;
  WalId wal;
  /// Counts the attempts, if there is one; must outlive the committer.
  CommitMetrics* metrics = nullptr;
  /// Ends the attempts, as CommitRetry's.
  StopToken stop = {};
};

/// Appends batches to one table, files and positions in one commit.
///
/// Every attempt loads the table anew, and finds out there what has landed and what may
/// follow; so an attempt whose outcome is unknown is resolved by reading. Deletes
/// nothing, ever. Reads no manifest list that it wrote itself. For one thread at a time.
class Committer {
 public:
  /// The references must outlive the committer.
  Committer(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
            CommitterOptions options)
      : catalog_(catalog), io_(io), runtime_(runtime), options_(std::move(options)) {}

  /// Commits all of `batches` (each the parent of the next) in one snapshot, and gives
  /// the outcome of each. Durable once it returns.
  ///
  /// Errors mean that the table must stop until somebody looks: rolled back, dropped or
  /// made anew, properties dropped by the catalog, a permanent failure; or, of kind
  /// Conflict, OutcomeUnknown or Unavailable, kCommitAttemptsMax attempts were in vain,
  /// or nobody answered for kUnavailableTimeMax; or, of kind Cancelled, a stop ended the
  /// attempts and none of them was applied. Some or all batches may have landed all
  /// the same: the table's positions say so.
  Result<std::vector<BatchOutcome>> Commit(const std::vector<Batch>& batches);

  const CommitterOptions& options() const { return options_; }

 private:
  iceberg::Catalog& catalog_;
  const iceberg::FileIo& io_;
  Runtime& runtime_;
  const CommitterOptions options_;
  iceberg::KeptManifestList kept_list_;
};

}  // namespace firn::commit
