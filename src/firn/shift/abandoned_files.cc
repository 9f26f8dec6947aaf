#include "firn/shift/abandoned_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "firn/commit/history.h"
#include "firn/core/guard.h"
#include "firn/iceberg/io/named_files.h"
#include "firn/shift/batch_files.h"
#include "firn/wal/batch_note.h"

namespace firn::shift {
namespace {

using File = iceberg::FileIo::Object;

/// What is there of a noted batch.
struct Leftover {
  wal::NotedBatch note;
  std::vector<File> files = {};
  /// Of others it is not sure yet that nobody can commit them.
  bool has_young_files = false;
  bool is_of_another = false;
  bool is_named = false;
};

std::string_view NameOf(std::string_view location) {
  return location.substr(location.rfind('/') + 1);
}

class Search {
 public:
  Search(const AbandonedSearch& search, const StopToken& stop)
      : search_(search), stop_(stop), table_(search.metadata.table_uuid) {}

  Result<std::int64_t> Run() {
    const std::optional<WallTime> moved = MainMoved();
    if (!moved) return 0;
    settled_ = *moved - kAbandonedAfter;
    FIRN_RETURN_NOT_OK(FindLeftovers());
    FIRN_RETURN_NOT_OK(FindNamed());
    std::int64_t deleted = 0;
    for (const Leftover& leftover : leftovers_) {
      if (stop_.stop_requested()) break;
      FIRN_RETURN_NOT_OK(Delete(leftover, deleted));
      FIRN_RETURN_NOT_OK(Forget(leftover));
    }
    return deleted;
  }

 private:
  /// When the snapshot was committed that main held at `main_since`.
  std::optional<WallTime> MainMoved() const {
    const iceberg::Snapshot* snapshot = commit::FindInHistoryOfMain(
        search_.metadata, [&](const iceberg::Snapshot& candidate) {
          return TimeOf(candidate) <= search_.main_since;
        });
    if (snapshot == nullptr) return std::nullopt;
    return TimeOf(*snapshot);
  }

  static WallTime TimeOf(const iceberg::Snapshot& snapshot) {
    return WallTime(std::chrono::milliseconds(snapshot.timestamp_ms));
  }

  Status FindLeftovers() {
    FIRN_ASSIGN_OR_RETURN(const auto notes,
                          wal::ListNotedBatches(search_.wal_store, table_));
    std::size_t files = 0;
    for (const wal::NotedBatch& note : notes) {
      if (files >= kAbandonedFilesMax) return Status::OK();
      if (note.noted > settled_) continue;
      FIRN_RETURN_NOT_OK(stop_.Check());
      FIRN_ASSIGN_OR_RETURN(Leftover leftover, Find(note));
      files += leftover.files.size();
      leftovers_.push_back(std::move(leftover));
    }
    return Status::OK();
  }

  Result<Leftover> Find(const wal::NotedBatch& note) const {
    Leftover leftover{.note = note};
    const auto read = wal::ReadBatchNote(search_.wal_store, table_, note.batch);
    // Another process has just seen to it.
    if (IsError(read.status(), ErrorKind::kNotFound)) return leftover;
    FIRN_RETURN_NOT_OK(read.status());
    leftover.is_of_another = read->owner != search_.name;
    if (leftover.is_of_another) return leftover;
    for (const std::string& prefix : read->prefixes) {
      FIRN_ASSIGN_OR_RETURN(const File place, search_.io.Locate(prefix));
      FIRN_ASSIGN_OR_RETURN(const auto objects, place.store->List(place.key));
      for (const storage::ObjectInfo& object : objects) {
        const bool is_beside =
            object.key.find('/', place.key.size()) == std::string::npos;
        if (!is_beside || !IsFileNameOf(note.batch, NameOf(object.key))) continue;
        if (WallTime(Duration(object.modified_us)) > settled_) {
          leftover.has_young_files = true;
        } else {
          leftover.files.push_back({.store = place.store, .key = object.key});
        }
      }
    }
    return leftover;
  }

  /// A batch is committed as a whole, and its id is in the names of its files: one that
  /// is named tells of all, however their locations are spelled.
  Status FindNamed() {
    std::map<std::string_view, Leftover*> unnamed;
    for (Leftover& leftover : leftovers_) {
      if (leftover.files.empty()) continue;
      unnamed.emplace(leftover.note.batch.value(), &leftover);
    }
    if (unnamed.empty()) return Status::OK();
    const auto visit = [&](const iceberg::DataFile& file) {
      const auto found = unnamed.find(BatchInFileName(NameOf(file.file_path)));
      if (found == unnamed.end()) return true;
      found->second->is_named = true;
      unnamed.erase(found);
      return !unnamed.empty();
    };
    return AddContext(VisitNamedFiles(search_.io, search_.metadata, stop_, visit),
                      "looking for files that no snapshot names");
  }

  Status Delete(const Leftover& leftover, std::int64_t& deleted) const {
    const bool is_unnamed = FIRN_GUARD(kNamed, !leftover.is_named);
    if (!is_unnamed) return Status::OK();
    for (const File& file : leftover.files) {
      FIRN_RETURN_NOT_OK(file.store->Delete(file.key));
      search_.deleted.Increment();
      ++deleted;
    }
    return Status::OK();
  }

  /// A writer that was suspended may add a file long after the others are gone.
  Status Forget(const Leftover& leftover) const {
    if (leftover.is_of_another) return Status::OK();
    const bool is_over =
        !leftover.has_young_files && leftover.note.noted + kAbandonedAfter <= settled_;
    if (!leftover.is_named && !is_over) return Status::OK();
    return wal::ForgetBatch(search_.wal_store, table_, leftover.note.batch);
  }

  const AbandonedSearch& search_;
  const StopToken& stop_;
  const TableUuid& table_;
  /// What was written until then is committed, or never will be.
  WallTime settled_;
  std::vector<Leftover> leftovers_;
};

}  // namespace

metrics::Counter& AbandonedFilesCounter(metrics::Registry& registry,
                                        const std::string& table) {
  return registry.GetCounter(
      {.name = "firn_shift_abandoned_files_deleted_total",
       .help = "Data files deleted of batches that were never committed.",
       .labels = {{"table", table}}});
}

Status NoteBeforeFiles(storage::ObjectStore& wal_store, const TableUuid& table,
                       const BatchId& batch, const wal::BatchNote& note) {
  const Status noted = wal::NoteBatch(wal_store, table, batch, note);
  const bool may_pass = IsError(noted, ErrorKind::kUnavailable) ||
                        IsError(noted, ErrorKind::kOutcomeUnknown);
  return may_pass ? noted : Status::OK();
}

Result<std::int64_t> DeleteAbandonedFiles(const AbandonedSearch& search,
                                          const StopToken& stop) {
  return Search(search, stop).Run();
}

}  // namespace firn::shift
