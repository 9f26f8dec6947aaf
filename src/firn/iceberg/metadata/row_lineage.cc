#include "firn/iceberg/metadata/row_lineage.h"

#include <limits>
#include <optional>
#include <string_view>

namespace firn::iceberg {
namespace {

/// What comes after `rows` ids from `first` on.
Result<std::int64_t> After(std::int64_t first, std::int64_t rows, std::string_view path) {
  if (rows < 0) {
    return Error(ErrorKind::kCorruption, "{}: a negative count of rows, {}", path, rows);
  }
  if (first > std::numeric_limits<std::int64_t>::max() - rows) {
    return Error(ErrorKind::kCorruption, "{}: no row ids are left for {} rows after {}",
                 path, rows, first);
  }
  return first + rows;
}

}  // namespace

Result<std::int64_t> AssignRowIds(std::int64_t next_row_id,
                                  std::vector<ManifestFile>& manifests) {
  const std::int64_t first = next_row_id;
  for (ManifestFile& manifest : manifests) {
    const std::string& path = manifest.manifest_path;
    if (manifest.content != ManifestContent::kData) {
      manifest.first_row_id.reset();
      continue;
    }
    if (manifest.first_row_id.has_value()) {
      if (*manifest.first_row_id <= first) continue;
      return Error(ErrorKind::kCorruption,
                   "{}: its row ids start at {}, but the table's next-row-id is {}: rows "
                   "would get ids that others have",
                   path, *manifest.first_row_id, first);
    }
    if (!manifest.added_rows_count || !manifest.existing_rows_count) {
      return InvalidError(
          "manifest {} was listed without row counts, so its rows cannot be given ids: "
          "rewrite the table's manifests first",
          path);
    }
    manifest.first_row_id = next_row_id;
    FIRN_ASSIGN_OR_RETURN(next_row_id,
                          After(next_row_id, *manifest.added_rows_count, path));
    FIRN_ASSIGN_OR_RETURN(next_row_id,
                          After(next_row_id, *manifest.existing_rows_count, path));
  }
  return next_row_id;
}

Status InheritRowIds(const ManifestFile& manifest, std::vector<ManifestEntry>& entries) {
  std::optional<std::int64_t> next = manifest.first_row_id;
  for (ManifestEntry& entry : entries) {
    DataFile& file = entry.data_file;
    if (!next.has_value()) file.first_row_id.reset();
    const bool inherits = next.has_value() && !file.first_row_id.has_value() &&
                          entry.status != EntryStatus::kDeleted;
    if (!inherits) continue;
    file.first_row_id = next;
    FIRN_ASSIGN_OR_RETURN(next, After(*next, file.record_count, file.file_path));
  }
  return Status::OK();
}

}  // namespace firn::iceberg
