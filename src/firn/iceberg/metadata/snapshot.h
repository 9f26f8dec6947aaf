#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/types/type.h"

namespace firn::iceberg {

/// Name of the branch that readers use unless told otherwise.
inline constexpr std::string_view kMainBranch = "main";

/// One state of a table (Iceberg spec, "Snapshots").
struct Snapshot {
  SnapshotId snapshot_id;
  std::optional<SnapshotId> parent_snapshot_id;
  /// 0 in a table of format version 1.
  SnapshotSequence sequence_number;
  std::int64_t timestamp_ms = 0;
  /// Location of the manifest list; empty in old v1 snapshots, which list `manifests`.
  std::string manifest_list;
  std::vector<std::string> manifests;
  /// With "operation" among the entries.
  std::map<std::string, std::string> summary;
  std::optional<SchemaId> schema_id;
  /// Row lineage ("Snapshot Row IDs"): the first row id that this snapshot may have given
  /// out, and how many. Absent in what was made before format version 3.
  std::optional<std::int64_t> first_row_id;
  std::optional<std::int64_t> added_rows;
  types::UnknownFields unknown;

  bool operator==(const Snapshot&) const = default;
};

enum class RefType : std::uint8_t { kBranch, kTag };

/// A branch or tag (Iceberg spec, "Snapshot References").
struct SnapshotRef {
  SnapshotId snapshot_id;
  RefType type = RefType::kBranch;
  std::optional<std::int32_t> min_snapshots_to_keep;
  std::optional<std::int64_t> max_snapshot_age_ms;
  std::optional<std::int64_t> max_ref_age_ms;
  types::UnknownFields unknown;

  bool operator==(const SnapshotRef&) const = default;
};

}  // namespace firn::iceberg
