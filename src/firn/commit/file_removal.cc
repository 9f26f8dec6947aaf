#include "firn/commit/file_removal.h"

#include "firn/commit/committer.h"
#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/update/remove_files.h"

namespace firn::commit {
namespace {

Status Try(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
           const iceberg::TableIdentifier& table, const TableUuid& uuid,
           const std::set<std::string>& paths) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, catalog.LoadTable(table));
  if (loaded.metadata.table_uuid != uuid) {
    return Error(ErrorKind::kNotFound,
                 "the table was dropped and made anew: its uuid is {}, not {}",
                 loaded.metadata.table_uuid, uuid);
  }
  FIRN_ASSIGN_OR_RETURN(
      const auto prepared,
      PrepareRemoval(io, loaded.metadata,
                     {.paths = paths,
                      .snapshot_id = iceberg::NewSnapshotId(loaded.metadata, runtime),
                      .commit_uuid = NewUuid(runtime)},
                     runtime.Now()));
  if (!prepared) return Status::OK();
  CrashPoint("removal.before_catalog");
  const Status committed =
      catalog.CommitTable(table, prepared->requirements, prepared->updates).status();
  CrashPoint("removal.after_catalog");
  return committed;
}

}  // namespace

Status RemoveFiles(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
                   const iceberg::TableIdentifier& table, const TableUuid& uuid,
                   const std::set<std::string>& paths) {
  Status status;
  for (int attempt = 1; attempt <= kCommitAttemptsMax; ++attempt) {
    // An attempt whose outcome is unknown is resolved by the next one's look at what is
    // live.
    status = Try(catalog, io, runtime, table, uuid, paths);
    const bool is_worth_retrying = IsError(status, ErrorKind::kConflict) ||
                                   IsError(status, ErrorKind::kOutcomeUnknown) ||
                                   IsError(status, ErrorKind::kUnavailable);
    if (!is_worth_retrying) break;
    const auto bound = static_cast<std::uint64_t>(kCommitBackoffFirst.count()) *
                       static_cast<std::uint64_t>(attempt);
    runtime.Sleep(Duration(static_cast<std::int64_t>(runtime.Random64() % bound)));
  }
  return AddContext(status, fmt::format("removing files from {}", table));
}

}  // namespace firn::commit
