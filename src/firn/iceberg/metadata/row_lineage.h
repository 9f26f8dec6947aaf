#pragma once

#include <cstdint>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/manifest.h"

namespace firn::iceberg {

/// Whether tables of this format version give every row an id for life (Iceberg spec,
/// "Row Lineage").
constexpr bool HasRowLineage(std::int32_t format_version) { return format_version >= 3; }

/// Gives each data manifest that has none its first row id, in the order of the list and
/// from `next_row_id` on, and returns what is next after them (Iceberg spec, "First Row
/// ID Assignment"). A manifest takes up its added and its existing rows: files of both
/// may be without ids. Those that have an id keep it; delete manifests have none. Pure.
///
/// Corruption if a manifest starts above `next_row_id`, since ids would be given out
/// twice, or no ids are left; Invalid, naming the manifest, if it has no counts.
Result<std::int64_t> AssignRowIds(std::int64_t next_row_id,
                                  std::vector<ManifestFile>& manifests);

/// Gives each live file of `manifest` that has none its first row id (Iceberg spec,
/// "First Row ID Inheritance"); where the manifest has none itself, no file has one.
/// Pure. Corruption if a record count is negative or no ids are left.
Status InheritRowIds(const ManifestFile& manifest, std::vector<ManifestEntry>& entries);

}  // namespace firn::iceberg
