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
#include "firn/iceberg/update/new_snapshot.h"

namespace firn::iceberg {

/// A fast append in two steps: the manifests are written once; each attempt to commit
/// them writes a manifest list of its own.

/// Manifests that wait to be committed, by any number of attempts.
struct WrittenManifests {
  SnapshotId snapshot_id;
  /// Part of the names of all files of this append.
  std::string commit_uuid;
  std::vector<ManifestFile> manifests;
  std::int64_t added_files = 0;
  std::int64_t added_records = 0;
  std::int64_t added_bytes = 0;
  std::int64_t changed_partitions = 0;

  bool operator==(const WrittenManifests&) const = default;
};

/// Writes one manifest for each spec id among `files`, named "<commit uuid>-m<n>.avro";
/// none for no files. Fails before a byte is written for a table that Firn cannot write
/// (CheckWritable), an unknown spec id, or a file that is no data file.
Result<WrittenManifests> WriteManifests(const FileIo& io, const TableMetadata& metadata,
                                        const std::vector<DataFile>& files,
                                        SnapshotId snapshot_id, std::string commit_uuid);

struct AppendAttempt {
  /// 1, 2, 3, ...: makes the manifest list's name unique.
  std::int32_t number = 1;
  /// Beside the usual summary entries, and never in their place.
  std::map<std::string, std::string> summary;
  /// If given, where the manifest list that was read or written last is, and is kept: who
  /// appends again and again to a table reads only what others wrote. Not thread-safe.
  KeptManifestList* kept = nullptr;
};

/// Writes the manifest list for an append on top of `metadata`'s main branch, with the
/// next sequence number. An append without manifests adds a snapshot all the same.
///
/// Of a parent's list that Firn wrote only the first block is decompressed, so the cost
/// of an append hardly depends on how many manifests there are.
///
/// The summary has operation, what was added, and the totals, from the parent's or else
/// from what its manifest list counts: right or absent.
Result<PreparedSnapshot> PrepareAppend(const FileIo& io, const TableMetadata& metadata,
                                       const WrittenManifests& written,
                                       const AppendAttempt& attempt, WallTime now);

}  // namespace firn::iceberg
