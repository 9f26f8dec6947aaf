#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/commit/committer.h"
#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/metrics/metrics.h"
#include "firn/storage/object_store.h"
#include "firn/wal/batch_note.h"

namespace firn::shift {

/// Data files go that no snapshot names once main moved so long after they were written.
///
/// A batch is committed on the main of a look at the table that was at most kBatchAgeMax
/// after its first file was begun. Once main has moved after that, no attempt can be
/// applied any more, however late its request comes: each asserts main's snapshot. The
/// other half is left for clocks that differ.
inline constexpr Duration kAbandonedAfter = 2 * commit::kBatchAgeMax;

/// A process does not look more often.
inline constexpr Duration kAbandonedInterval = std::chrono::hours(6);

/// One look keeps no more locations in memory, and those of one batch.
inline constexpr std::size_t kAbandonedFilesMax = 10'000;

/// Files deleted of the table, as a metric.
metrics::Counter& AbandonedFilesCounter(metrics::Registry& registry,
                                        const std::string& table);

/// Before a batch's first file: notes the batch, so that the files are found if nothing
/// commits them. Without room or permission for the note they are written all the same,
/// since a shift is what makes room; errors that pass are the caller's.
Status NoteBeforeFiles(storage::ObjectStore& wal_store, const TableUuid& table,
                       const BatchId& batch, const wal::BatchNote& note);

struct AbandonedSearch {
  const iceberg::FileIo& io;
  storage::ObjectStore& wal_store;
  /// The table's name; notes of others are left alone.
  std::string name;
  /// Just loaded, and not rolled back.
  const iceberg::TableMetadata& metadata;
  /// Main is not rolled back to what it was before: `retention` ago.
  WallTime main_since;
  metrics::Counter& deleted;
};

/// Deletes the data files that noted batches left behind, and returns how many:
///   of a batch of which no file is named (VisitNamedFiles), by whichever snapshot;
///   written kAbandonedAfter before main's snapshot of `main_since` was committed;
///   named as the batch's files are, where the note says.
/// Looks at what is named only if there are such files. If anything of that cannot be
/// read, deletes nothing. Forgets the batches that are committed, and those of which for
/// another kAbandonedAfter nothing came. Ends early if the stop token fires.
Result<std::int64_t> DeleteAbandonedFiles(const AbandonedSearch& search,
                                          const StopToken& stop);

}  // namespace firn::shift
