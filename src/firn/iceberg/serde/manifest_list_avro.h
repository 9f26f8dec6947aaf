#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/manifest.h"

namespace firn::iceberg {

struct ManifestListHeader {
  SnapshotId snapshot_id;
  std::optional<SnapshotId> parent_snapshot_id;
  SnapshotSequence sequence_number;
  /// 2 or 3.
  std::int32_t format_version = 2;
  /// The snapshot's, from version 3 on.
  std::optional<std::int64_t> first_row_id;
};

/// Whether EncodeManifestList can take over a list into one of `format_version`: one that
/// it made itself for that version, so that its manifests have row ids where they need
/// them. Corruption if malformed.
Result<bool> CanTakeOverManifestList(std::string_view bytes, std::int32_t format_version);

/// A manifest list (Iceberg spec, "Manifest Lists"): `manifests`, and behind them, not
/// decoded, all that the list `taken_over` holds, if there is one. REQUIRES: sequence
/// numbers and, of data manifests from version 3 on, first row ids are set;
/// CanTakeOverManifestList. Invalid, naming the manifest, if one has no counts.
Result<std::string> EncodeManifestList(const ManifestListHeader& header,
                                       const std::vector<ManifestFile>& manifests,
                                       std::string_view taken_over = {});

/// A manifest list of format version 1, 2 or 3; a missing sequence number (version 1) is
/// 0. Corruption if malformed.
Result<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes);

}  // namespace firn::iceberg
