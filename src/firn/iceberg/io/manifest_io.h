#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// The manifests of a snapshot. Corruption if the list is malformed.
Result<std::vector<ManifestFile>> ReadManifestList(const FileIo& io,
                                                   std::string_view location);

/// The entries of a manifest, deleted ones included, with what they inherit from
/// `manifest` filled in. Corruption if the file is malformed, or its spec is not one of
/// the table's.
Result<std::vector<ManifestEntry>> ReadManifest(const FileIo& io,
                                                const TableMetadata& metadata,
                                                const ManifestFile& manifest);

/// All that has to go into a manifest in this one's place.
struct WholeManifest {
  std::vector<ManifestEntry> entries;
  ManifestProperties unknown_properties;
};

/// As ReadManifest.
Result<WholeManifest> ReadWholeManifest(const FileIo& io, const TableMetadata& metadata,
                                        const ManifestFile& manifest);

/// Invalid, naming the file, if it is no data file, the table has no such partition spec,
/// or its partition values do not fit the spec.
Status CheckDataFile(const TableMetadata& metadata, const DataFile& file);

/// The file's partition as a path, for telling partitions apart. Errors as CheckDataFile.
Result<std::string> PartitionPathOf(const TableMetadata& metadata, const DataFile& file);

struct NewManifest {
  std::string location;
  PartitionSpecId partition_spec_id;
  SnapshotId snapshot_id;
  /// Of the manifests that it takes the place of.
  ManifestProperties unknown_properties = {};
};

/// Writes data files as a manifest of the table's format version, its entries added by
/// the given snapshot, and returns its line for the manifest list, with exact length,
/// counts and partition summaries; nothing is read again. Sequence number and row ids
/// stay open: they are the commit's. Durable once it returns OK.
///
/// Invalid, before a byte is written, if CheckWritable or CheckDataFile is.
Result<ManifestFile> WriteManifest(const FileIo& io, const TableMetadata& metadata,
                                   const NewManifest& manifest,
                                   const std::vector<DataFile>& files);

/// The same for entries that other manifests listed: all are of kind kExisting, and keep
/// their snapshot, sequence numbers and row ids, or kDeleted, and of the given snapshot.
/// REQUIRES: their numbers are set.
Result<ManifestFile> RewriteManifest(const FileIo& io, const TableMetadata& metadata,
                                     const NewManifest& manifest,
                                     const std::vector<ManifestEntry>& entries);

struct NewManifestList {
  std::string location;
  SnapshotId snapshot_id;
  std::optional<SnapshotId> parent_snapshot_id;
  SnapshotSequence sequence_number;
  /// 2 or 3.
  std::int32_t format_version = 2;
  /// The snapshot's; its manifests have theirs already (AssignRowIds).
  std::optional<std::int64_t> first_row_id;
};

/// Writes a manifest list, and gives its bytes. Manifests without a sequence number get
/// the list's; `taken_over` as EncodeManifestList's. Durable once it returns OK.
Result<std::string> WriteManifestList(const FileIo& io, const NewManifestList& list,
                                      std::vector<ManifestFile> manifests,
                                      std::string_view taken_over = {});

}  // namespace firn::iceberg
