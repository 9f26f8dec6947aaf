#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/iceberg/update/new_snapshot.h"

namespace firn::iceberg {

/// Data files that are to leave a table.
struct FileRemoval {
  std::set<std::string> paths;
  SnapshotId snapshot_id;
  /// Part of the names of all files of this removal; new for each attempt.
  std::string commit_uuid;
};

/// Writes what takes the files off `metadata`'s main branch: a snapshot of operation
/// "delete". Manifests without one of them stay as they are. Files that are not live are
/// passed over; nothing if none is. The data files themselves are not touched.
Result<std::optional<PreparedSnapshot>> PrepareRemoval(const FileIo& io,
                                                       const TableMetadata& metadata,
                                                       const FileRemoval& removal,
                                                       WallTime now);

}  // namespace firn::iceberg
