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
          const RemovedFiles& removed)
      : catalog_(catalog), io_(io), runtime_(runtime), removed_(removed) {}

  Status Run() {
    CommitRetry retry(runtime_, removed_.stop);
    return TryCommit<Gone>(
               retry,
               [this]() -> Result<Gone> {
                 FIRN_RETURN_NOT_OK(Try());
                 return Gone{};
               },
               [this] { return LookForIt(); })
        .status();
  }

 private:
  /// That none of the files is live.
  struct Gone {};

  std::optional<Gone> LookForIt() {
    const auto left = Prepare();
    if (!left.ok() || *left) return std::nullopt;
    return Gone{};
  }

  /// Nothing if none of the files is live.
  Result<std::optional<iceberg::PreparedSnapshot>> Prepare() {
    FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded,
                          catalog_.LoadTable(removed_.table));
    if (loaded.metadata.table_uuid != removed_.table_uuid) {
      return Error(ErrorKind::kNotFound,
                   "the table was dropped and made anew: its uuid is {}, not {}",
                   loaded.metadata.table_uuid, removed_.table_uuid);
    }
    return PrepareRemoval(
        io_, loaded.metadata,
        {.paths = removed_.paths,
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
        catalog_.CommitTable(removed_.table, prepared->requirements, prepared->updates)
            .status();
    CrashPoint("removal.after_catalog");
    return committed;
  }

  iceberg::Catalog& catalog_;
  const iceberg::FileIo& io_;
  Runtime& runtime_;
  const RemovedFiles& removed_;
};

}  // namespace

Status RemoveFiles(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
                   const RemovedFiles& removed) {
  return AddContext(Removal(catalog, io, runtime, removed).Run(),
                    fmt::format("removing files from {}", removed.table));
}

}  // namespace firn::commit
