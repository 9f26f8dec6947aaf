#include "firn/commit/file_removal.h"

#include <optional>

#include "firn/commit/commit_retry.h"
#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/update/remove_files.h"

namespace firn::commit {
namespace {

/// All attempts to take some files out of a table.
class Removal {
 public:
  Removal(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
          const iceberg::TableIdentifier& table, const TableUuid& uuid,
          const std::set<std::string>& paths)
      : catalog_(catalog),
        io_(io),
        runtime_(runtime),
        table_(table),
        uuid_(uuid),
        paths_(paths) {}

  Status Run() {
    CommitRetry retry(runtime_);
    while (true) {
      const Status status = Try();
      if (status.ok()) return status;
      const AfterFailure next = retry.After(status);
      if (next == AfterFailure::kFail) return status;
      if (next == AfterFailure::kTryAgain) continue;
      // The last attempt may have been applied all the same.
      const auto left = Prepare();
      return left.ok() && !*left ? Status::OK() : retry.Failure();
    }
  }

 private:
  /// Nothing if none of the files is live.
  Result<std::optional<iceberg::PreparedSnapshot>> Prepare() {
    FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, catalog_.LoadTable(table_));
    if (loaded.metadata.table_uuid != uuid_) {
      return Error(ErrorKind::kNotFound,
                   "the table was dropped and made anew: its uuid is {}, not {}",
                   loaded.metadata.table_uuid, uuid_);
    }
    return PrepareRemoval(
        io_, loaded.metadata,
        {.paths = paths_,
         .snapshot_id = iceberg::NewSnapshotId(loaded.metadata, runtime_),
         .commit_uuid = NewUuid(runtime_)},
        runtime_.Now());
  }

  /// An attempt whose outcome is unknown is resolved by the next one's look at what is
  /// live.
  Status Try() {
    FIRN_ASSIGN_OR_RETURN(const auto prepared, Prepare());
    if (!prepared) return Status::OK();
    CrashPoint("removal.before_catalog");
    const Status committed =
        catalog_.CommitTable(table_, prepared->requirements, prepared->updates).status();
    CrashPoint("removal.after_catalog");
    return committed;
  }

  iceberg::Catalog& catalog_;
  const iceberg::FileIo& io_;
  Runtime& runtime_;
  const iceberg::TableIdentifier& table_;
  const TableUuid& uuid_;
  const std::set<std::string>& paths_;
};

}  // namespace

Status RemoveFiles(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
                   const iceberg::TableIdentifier& table, const TableUuid& uuid,
                   const std::set<std::string>& paths) {
  return AddContext(Removal(catalog, io, runtime, table, uuid, paths).Run(),
                    fmt::format("removing files from {}", table));
}

}  // namespace firn::commit
