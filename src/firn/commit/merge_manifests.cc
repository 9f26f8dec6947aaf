#include "firn/commit/merge_manifests.h"

#include <string>

#include "firn/iceberg/update/manifest_merge.h"

namespace firn::commit {

Result<std::int64_t> MergeManifests(iceberg::Catalog& catalog, const iceberg::FileIo& io,
                                    Runtime& runtime,
                                    const iceberg::TableIdentifier& table,
                                    const TableUuid& table_uuid) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, catalog.LoadTable(table));
  if (loaded.metadata.table_uuid != table_uuid) {
    return Error(ErrorKind::kNotFound, "table {} was dropped and made anew", table);
  }
  FIRN_ASSIGN_OR_RETURN(const auto merge,
                        iceberg::PrepareManifestMerge(io, loaded.metadata, runtime));
  if (!merge) return 0;
  const Status committed =
      catalog.CommitTable(table, merge->requirements, merge->updates).status();
  const bool is_left_for_later = IsError(committed, ErrorKind::kConflict) ||
                                 IsError(committed, ErrorKind::kOutcomeUnknown);
  if (is_left_for_later) return 0;
  FIRN_RETURN_NOT_OK(committed);
  return std::stoll(merge->snapshot.summary.at("manifests-replaced"));
}

}  // namespace firn::commit
