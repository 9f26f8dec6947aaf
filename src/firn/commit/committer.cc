#include "firn/commit/committer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "firn/commit/chain.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/update/append.h"

namespace firn::commit {
namespace {

using Outcomes = std::vector<BatchOutcome>;

Status CheckBatches(const std::vector<Batch>& batches) {
  for (std::size_t i = 0; i < batches.size(); ++i) {
    FIRN_RETURN_NOT_OK(CheckBatch(batches[i]));
    if (i > 0 && batches[i].parent != batches[i - 1].id) {
      return InvalidError("batch {} stands behind {}, but names another parent",
                          batches[i].id, batches[i - 1].id);
    }
  }
  return Status::OK();
}

/// All attempts to commit one list of batches.
class Attempts {
 public:
  Attempts(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
           const CommitterOptions& options, iceberg::KeptManifestList& kept_list,
           const std::vector<Batch>& batches)
      : catalog_(catalog),
        io_(io),
        runtime_(runtime),
        options_(options),
        kept_list_(kept_list),
        batches_(batches),
        retry_(runtime, options.stop) {}

  Result<Outcomes> Run() {
    auto outcomes = TryCommit<Outcomes>(
        retry_, [this] { return Try(retry_.attempt()); },
        [this] { return LookForThem(); });
    if (outcomes.ok() || !retry_.gave_up()) return outcomes;
    return AddContext(outcomes.status(),
                      fmt::format("gave up after {} attempts to commit batch {}",
                                  retry_.attempt(), batches_.back().id));
  }

 private:
  struct View {
    iceberg::TableMetadata metadata;
    TablePositions positions = {};
    ChainVerdict verdict = {};
  };

  /// What is written once, and stays the same as long as the verdict does.
  struct Append {
    ChainVerdict verdict;
    std::vector<BatchId> ids = {};
    Batch merged;
    iceberg::WrittenManifests manifests = {};
  };

  Result<Outcomes> Try(int number) {
    FIRN_ASSIGN_OR_RETURN(const View view, Look());
    if (view.verdict.ready == 0) return OutcomesOf(view);
    FIRN_RETURN_NOT_OK(WriteManifests(view));
    FIRN_ASSIGN_OR_RETURN(const auto summary,
                          SummaryEntries(options_.wal, append_->ids, append_->merged));
    const Result<iceberg::PreparedSnapshot> prepared = iceberg::PrepareAppend(
        io_, view.metadata, append_->manifests,
        {.number = number, .summary = summary, .kept = &kept_list_}, runtime_.Now());
    const iceberg::Snapshot* main = iceberg::CurrentSnapshot(view.metadata);
    if (IsError(prepared.status(), ErrorKind::kNotFound) && main != nullptr) {
      return ListIsGone(*main);
    }
    FIRN_RETURN_NOT_OK(prepared.status());
    FIRN_RETURN_NOT_OK(CommitPrepared(view, *prepared));
    return OutcomesOf(view, prepared->snapshot.snapshot_id);
  }

  /// Another engine may have committed and expired main's snapshot since it was loaded.
  Status ListIsGone(const iceberg::Snapshot& main) {
    if (without_list_ == main.snapshot_id) {
      return Error(ErrorKind::kCorruption,
                   "the manifest list of main's snapshot {} is gone: put {} back from a "
                   "backup, or move main to another snapshot",
                   main.snapshot_id, main.manifest_list);
    }
    without_list_ = main.snapshot_id;
    const Status conflict =
        Error(ErrorKind::kConflict, "snapshot {} was expired since the table was loaded",
              main.snapshot_id);
    if (options_.metrics != nullptr) options_.metrics->Count(conflict);
    return conflict;
  }

  std::optional<Outcomes> LookForThem() {
    // They landed, and that is not what is wrong.
    if (lost_properties_) return std::nullopt;
    const Result<View> view = Look();
    if (!view.ok() || view->verdict.ready > 0) return std::nullopt;
    return OutcomesOf(*view);
  }

  Result<View> Look() {
    FIRN_ASSIGN_OR_RETURN(iceberg::LoadedTable table, catalog_.LoadTable(options_.table));
    View view = {.metadata = std::move(table.metadata)};
    if (view.metadata.table_uuid != options_.table_uuid) {
      return Error(ErrorKind::kNotFound,
                   "the table was dropped and made anew: its uuid is {}, the files were "
                   "written for {}",
                   view.metadata.table_uuid, options_.table_uuid);
    }
    FIRN_ASSIGN_OR_RETURN(view.positions, ReadPositions(view.metadata, options_.wal));
    FIRN_RETURN_NOT_OK(CheckNotRolledBack(view.metadata, view.positions,
                                          iceberg::ToString(options_.table)));
    view.verdict = JudgeChain(view.metadata, options_.wal, view.positions, batches_);
    view.verdict.ready = CountYoung(view.verdict);
    return view;
  }

  /// Of the batches that may be committed, those before the first that is too old.
  std::size_t CountYoung(const ChainVerdict& verdict) const {
    for (std::size_t i = 0; i < verdict.ready; ++i) {
      const std::optional<BootTime> begun = batches_[verdict.landed + i].begun;
      if (begun && runtime_.SinceBoot() - *begun > kBatchAgeMax) return i;
    }
    return verdict.ready;
  }

  Status WriteManifests(const View& view) {
    if (append_.has_value() && append_->verdict == view.verdict) return Status::OK();
    Append append = Merge(view.verdict);
    FIRN_ASSIGN_OR_RETURN(
        append.manifests,
        iceberg::WriteManifests(io_, view.metadata, append.merged.files,
                                iceberg::NewSnapshotId(view.metadata, runtime_),
                                NewUuid(runtime_)));
    append_ = std::move(append);
    return Status::OK();
  }

  Append Merge(const ChainVerdict& verdict) const {
    Append append = {.verdict = verdict, .merged = batches_[verdict.landed]};
    append.ids.push_back(append.merged.id);
    for (std::size_t i = 1; i < verdict.ready; ++i) {
      const Batch& next = batches_[verdict.landed + i];
      append.ids.push_back(next.id);
      append.merged = Appended(std::move(append.merged), next);
    }
    return append;
  }

  Status CommitPrepared(const View& view, const iceberg::PreparedSnapshot& prepared) {
    const TablePositions next = {
        .last_batch = append_->merged.id,
        .snapshot = prepared.snapshot.snapshot_id,
        .sequence = prepared.snapshot.sequence_number,
        .reached = PositionsAfter(view.positions.reached, append_->merged)};
    FIRN_ASSIGN_OR_RETURN(const PropertyChanges changes,
                          ChangeProperties(view.metadata, options_.wal, next));
    std::vector<iceberg::TableUpdate> updates = prepared.updates;
    updates.push_back(iceberg::SetProperties{changes.updates});
    if (!changes.removals.empty()) {
      updates.push_back(iceberg::RemoveProperties{changes.removals});
    }
    CrashPoint("commit.before_catalog");
    const Result<iceberg::LoadedTable> table =
        catalog_.CommitTable(options_.table, prepared.requirements, updates);
    CrashPoint("commit.after_catalog");
    if (options_.metrics != nullptr) options_.metrics->Count(table.status());
    FIRN_RETURN_NOT_OK(table.status());
    return CheckKept(table->metadata, *next.snapshot, changes.updates);
  }

  /// A catalog that does not keep our properties would make us land all rows again.
  Status CheckKept(const iceberg::TableMetadata& metadata, SnapshotId snapshot,
                   const std::map<std::string, std::string>& properties) {
    if (metadata.current_snapshot_id != snapshot) {
      return Error(ErrorKind::kOutcomeUnknown,
                   "the catalog accepted snapshot {} but shows another one", snapshot);
    }
    for (const auto& [property, value] : properties) {
      const auto shown = metadata.properties.find(property);
      if (shown != metadata.properties.end() && shown->second == value) continue;
      lost_properties_ = true;
      return InvalidError(
          "the catalog did not keep table property {} (set to '{}' with snapshot {}): it "
          "cannot be used for landing; set the property by hand before any other attempt",
          property, value, snapshot);
    }
    return Status::OK();
  }

  Outcomes OutcomesOf(const View& view,
                      std::optional<SnapshotId> committed = std::nullopt) const {
    const std::size_t ready_end = view.verdict.landed + view.verdict.ready;
    Outcomes outcomes;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      if (i < view.verdict.landed) {
        outcomes.push_back({.state = BatchState::kCommitted,
                            .snapshot = LandedSnapshot(view.metadata, batches_[i].id)});
      } else if (i < ready_end) {
        outcomes.push_back({.state = BatchState::kCommitted, .snapshot = committed});
      } else {
        outcomes.push_back({.state = BatchState::kSuperseded});
      }
    }
    return outcomes;
  }

  std::optional<SnapshotId> LandedSnapshot(const iceberg::TableMetadata& metadata,
                                           const BatchId& batch) const {
    const iceberg::Snapshot* snapshot = FindBatchSnapshot(metadata, options_.wal, batch);
    if (snapshot == nullptr) return std::nullopt;
    return snapshot->snapshot_id;
  }

  iceberg::Catalog& catalog_;
  const iceberg::FileIo& io_;
  Runtime& runtime_;
  const CommitterOptions& options_;
  iceberg::KeptManifestList& kept_list_;
  const std::vector<Batch>& batches_;

  CommitRetry retry_;
  std::optional<Append> append_;
  bool lost_properties_ = false;
  /// The snapshot of main whose manifest list was not there.
  std::optional<SnapshotId> without_list_;
};

}  // namespace

Result<std::vector<BatchOutcome>> Committer::Commit(const std::vector<Batch>& batches) {
  FIRN_RETURN_NOT_OK(CheckBatches(batches));
  if (batches.empty()) return std::vector<BatchOutcome>();
  Result<std::vector<BatchOutcome>> outcomes =
      Attempts(catalog_, io_, runtime_, options_, kept_list_, batches).Run();
  if (outcomes.ok()) return outcomes;
  return AddContext(outcomes.status(), fmt::format("committing to {}", options_.table));
}

}  // namespace firn::commit
