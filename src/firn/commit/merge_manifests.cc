#include "firn/commit/merge_manifests.h"

#include <string>

#include "firn/iceberg/update/manifest_merge.h"

namespace firn::commit {
namespace {

bool HasSnapshot(iceberg::Catalog& catalog, const iceberg::TableIdentifier& table,
                 SnapshotId snapshot) {
  const auto loaded = catalog.LoadTable(table);
  return loaded.ok() && iceberg::FindSnapshot(loaded->metadata, snapshot) != nullptr;
}

}  // namespace

Result<std::int64_t> MergeManifests(iceberg::Catalog& catalog, const iceberg::FileIo& io,
                                    Runtime& runtime,
                                    const iceberg::TableIdentifier& table,
                                    const TableUuid& table_uuid) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, catalog.LoadTable(table));
  if (loaded.metadata.table_uuid != table_uuid) {
    return Error(ErrorKind::kNotFound, "table {} was dropped and made anew", table);
  }
  const auto merge = iceberg::PrepareManifestMerge(io, loaded.metadata, runtime);
  // Somebody may have expired the snapshot since, its manifests with it.
  if (IsError(merge.status(), ErrorKind::kNotFound)) return 0;
  FIRN_RETURN_NOT_OK(merge.status());
  if (!*merge) return 0;
  const iceberg::PreparedSnapshot& prepared = **merge;
  const Status committed =
      catalog.CommitTable(table, prepared.requirements, prepared.updates).status();
  const bool is_left_for_later = IsError(committed, ErrorKind::kConflict) ||
                                 IsError(committed, ErrorKind::kOutcomeUnknown);
  if (is_left_for_later) return 0;
  // Any other refusal may answer a second sending of a request that was applied.
  if (!committed.ok() && !HasSnapshot(catalog, table, prepared.snapshot.snapshot_id)) {
    return committed;
  }
  return std::stoll(prepared.snapshot.summary.at("manifests-replaced"));
}

}  // namespace firn::commit
