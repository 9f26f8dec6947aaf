#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/iceberg/update/requirement.h"
#include "firn/iceberg/update/table_update.h"

namespace firn::iceberg {

/// A positive random id that no snapshot of the table has.
SnapshotId NewSnapshotId(const TableMetadata& metadata, Runtime& runtime);

/// The manifests of main's snapshot; none without one.
Result<std::vector<ManifestFile>> ManifestsOfMain(const FileIo& io,
                                                  const TableMetadata& metadata);

/// A manifest list that was read or written, as it is in its file.
struct KeptManifestList {
  std::string location;
  std::string bytes;
};

/// The manifest list of main's snapshot, put into `kept` unless it is there already; both
/// fields empty without a snapshot. Gives its manifests if it had to be read for it.
/// Corruption, naming the file, if it is malformed.
Result<std::optional<std::vector<ManifestFile>>> KeepManifestListOfMain(
    const FileIo& io, const TableMetadata& metadata, KeptManifestList& kept);

/// What a new snapshot on top of main is made of.
struct NewSnapshot {
  SnapshotId id;
  /// Part of the names of all files of this commit.
  std::string commit_uuid;
  /// 1, 2, 3, ...: makes the manifest list's name unique.
  std::int32_t attempt = 1;
  std::vector<ManifestFile> manifests;
  std::map<std::string, std::string> summary;
  /// A manifest list whose manifests the snapshot has, too, as EncodeManifestList takes
  /// it over; must outlive the call.
  std::string_view taken_over = {};
};

/// What to hand to Catalog::CommitTable; callers add requirements and updates of their
/// own.
struct PreparedSnapshot {
  /// The table's uuid, and main's snapshot or its absence.
  std::vector<TableRequirement> requirements;
  /// The snapshot, and main set to it.
  std::vector<TableUpdate> updates;
  /// As in `updates`.
  Snapshot snapshot;
  KeptManifestList manifest_list;
};

/// Writes the manifest list, "snap-<id>-<attempt>-<commit uuid>.avro", with the next
/// sequence number and, from format version 3 on, with row ids from the table's next one
/// (Iceberg spec, "Snapshot Row IDs"). The snapshot's time is never before its parent's,
/// nor before the table's last update. Errors as CheckWritable's and AssignRowIds'.
Result<PreparedSnapshot> PrepareSnapshot(const FileIo& io, const TableMetadata& metadata,
                                         NewSnapshot made, WallTime now);

}  // namespace firn::iceberg
