#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/iceberg/update/new_snapshot.h"

namespace firn::iceberg {

/// When manifests are merged: table properties, named and defaulted as in Iceberg's Java
/// library.
struct ManifestMergeLimits {
  /// commit.manifest-merge.enabled
  bool is_enabled = true;
  /// commit.manifest.target-size-bytes: a manifest below it is small.
  std::int64_t target_size_bytes = 8LL << 20;
  /// commit.manifest.min-count-to-merge: so many small ones of a partition spec.
  std::int64_t min_count = 100;
};

/// Invalid, naming the property, for a value that is not understood.
Result<ManifestMergeLimits> ReadManifestMergeLimits(const TableMetadata& metadata);

/// Merges the small data manifests of each partition spec that has `min_count` of them,
/// in a `replace` snapshot that changes no file of the table: so reading and appending do
/// not get dearer with the table's age. Nothing if there are too few.
///
/// Entries keep their snapshot and sequence numbers; those of deleted files are left out.
/// What a manifest says that Firn does not know is kept: only those that say the same are
/// merged, and none of which an entry would lose something. Totals are the parent's.
/// Deletes nothing: old snapshots keep their manifests.
Result<std::optional<PreparedSnapshot>> PrepareManifestMerge(
    const FileIo& io, const TableMetadata& metadata, Runtime& runtime);

}  // namespace firn::iceberg
