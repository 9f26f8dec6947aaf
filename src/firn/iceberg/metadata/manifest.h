#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/core/ids.h"
#include "firn/types/value.h"

namespace firn::iceberg {

enum class FileContent : std::uint8_t { kData, kPositionDeletes, kEqualityDeletes };
enum class ManifestContent : std::uint8_t { kData, kDeletes };
enum class EntryStatus : std::uint8_t { kExisting, kAdded, kDeleted };

/// A data or delete file of a table (Iceberg spec, "Data File Fields").
///
/// Metrics are by field id. Bounds are single values in binary (Appendix D), truncated or
/// exact; a column without an entry has no known metric.
struct DataFile {
  FileContent content = FileContent::kData;
  std::string file_path;
  /// "PARQUET", "AVRO", "ORC" or "PUFFIN".
  std::string file_format = "PARQUET";
  /// Not stored with the file but with its manifest.
  PartitionSpecId partition_spec_id;
  /// One value for each field of the spec, in its order.
  types::PartitionTuple partition;
  std::int64_t record_count = 0;
  std::int64_t file_size_in_bytes = 0;
  std::map<FieldId, std::int64_t> column_sizes;
  /// Values, nulls and NaNs included.
  std::map<FieldId, std::int64_t> value_counts;
  std::map<FieldId, std::int64_t> null_value_counts;
  std::map<FieldId, std::int64_t> nan_value_counts;
  std::map<FieldId, std::string> lower_bounds;
  std::map<FieldId, std::string> upper_bounds;
  std::optional<std::string> key_metadata;
  std::vector<std::int64_t> split_offsets;
  std::vector<FieldId> equality_ids;
  std::optional<SortOrderId> sort_order_id;
  /// The `_row_id` of its first row that has none of its own; absent in what a manifest
  /// adds ("First Row ID Inheritance"), and before format version 3.
  std::optional<std::int64_t> first_row_id;
  /// Of delete files: the one data file they speak of, if it is one.
  std::optional<std::string> referenced_data_file;

  bool operator==(const DataFile&) const = default;
};

/// One line of a manifest. Absent numbers are inherited from the manifest list ("Sequence
/// Number Inheritance", "First Row ID Inheritance"); ReadManifest fills them in.
struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<SnapshotId> snapshot_id;
  std::optional<SnapshotSequence> sequence_number;
  std::optional<SnapshotSequence> file_sequence_number;
  DataFile data_file;
  /// A field with a value that Firn has no name for, of a version to come: who wrote the
  /// entry anew would lose it. Empty if there is none.
  std::string unknown_field = {};

  bool operator==(const ManifestEntry&) const = default;
};

/// A field of a manifest list that Firn has no name for, of a version to come: carried
/// along as it is.
struct UnknownField {
  /// The Avro field, as JSON.
  std::string schema;
  /// Not null, in Avro's binary form.
  std::string value;

  bool operator==(const UnknownField&) const = default;
};

/// What the header of a manifest says beside what the spec, and Avro, have names for.
using ManifestProperties = std::map<std::string, std::string>;

/// What a manifest's files have in one partition field. Bounds as in DataFile, over the
/// values that are neither null nor NaN; absent if there are none.
struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower_bound;
  std::optional<std::string> upper_bound;
  std::vector<UnknownField> unknown_fields = {};

  bool operator==(const FieldSummary&) const = default;
};

/// One line of a manifest list (Iceberg spec, "Manifest Lists"). Counts are absent where
/// an old writer left them out.
struct ManifestFile {
  std::string manifest_path;
  std::int64_t manifest_length = 0;
  PartitionSpecId partition_spec_id;
  ManifestContent content = ManifestContent::kData;
  /// Absent from WriteManifest until the commit that adds the manifest gives it one.
  std::optional<SnapshotSequence> sequence_number;
  /// The least of the live entries' sequence numbers; absent if they all inherit.
  std::optional<SnapshotSequence> min_sequence_number;
  SnapshotId added_snapshot_id;
  std::optional<std::int32_t> added_files_count;
  std::optional<std::int32_t> existing_files_count;
  std::optional<std::int32_t> deleted_files_count;
  std::optional<std::int64_t> added_rows_count;
  std::optional<std::int64_t> existing_rows_count;
  std::optional<std::int64_t> deleted_rows_count;
  /// One for each field of the spec; absent if unknown.
  std::optional<std::vector<FieldSummary>> partitions;
  std::optional<std::string> key_metadata;
  /// Where the row ids start that its files without one inherit; absent before format
  /// version 3, of delete files, and from WriteManifest.
  std::optional<std::int64_t> first_row_id;
  std::vector<UnknownField> unknown_fields = {};

  bool operator==(const ManifestFile&) const = default;
};

/// The first field of the line, or of its summaries, that Firn has no name for: a
/// manifest that took the place of this one would lose it. Null if there is none.
const UnknownField* FindUnknownField(const ManifestFile& manifest);

}  // namespace firn::iceberg
