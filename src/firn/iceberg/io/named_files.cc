#include "firn/iceberg/io/named_files.h"

#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"

namespace firn::iceberg {
namespace {

class Walk {
 public:
  Walk(const FileIo& io, const TableMetadata& current, const StopToken& stop,
       const std::function<bool(const DataFile&)>& visit)
      : io_(io), current_(current), stop_(stop), visit_(visit) {}

  Status Run() {
    FIRN_RETURN_NOT_OK(VisitSnapshots(current_));
    for (const MetadataLogEntry& entry : std::views::reverse(current_.metadata_log)) {
      if (is_over_) return Status::OK();
      FIRN_RETURN_NOT_OK(stop_.Check());
      const auto older = ReadTableMetadata(io_, entry.metadata_file, &current_);
      if (IsError(older.status(), ErrorKind::kNotFound)) continue;
      FIRN_RETURN_NOT_OK(older.status());
      FIRN_RETURN_NOT_OK(VisitSnapshots(*older));
    }
    return Status::OK();
  }

 private:
  /// The newest first: what is looked for is mostly there.
  Status VisitSnapshots(const TableMetadata& metadata) {
    std::vector<const Snapshot*> snapshots;
    for (const Snapshot& snapshot : metadata.snapshots) snapshots.push_back(&snapshot);
    for (const Snapshot* snapshot : std::views::reverse(snapshots)) {
      if (is_over_) return Status::OK();
      if (!visited_snapshots_.insert(snapshot->snapshot_id).second) continue;
      const Status visited = VisitSnapshot(metadata, *snapshot);
      const bool was_expired = &metadata != &current_;
      if (was_expired && IsError(visited, ErrorKind::kNotFound)) continue;
      FIRN_RETURN_NOT_OK(visited);
    }
    return Status::OK();
  }

  Status VisitSnapshot(const TableMetadata& metadata, const Snapshot& snapshot) {
    if (snapshot.manifest_list.empty() && !snapshot.manifests.empty()) {
      return InvalidError(
          "snapshot {} has no manifest list, as only format version 1 allows",
          snapshot.snapshot_id);
    }
    if (snapshot.manifest_list.empty()) return Status::OK();
    FIRN_RETURN_NOT_OK(stop_.Check());
    FIRN_ASSIGN_OR_RETURN(const auto manifests,
                          ReadManifestList(io_, snapshot.manifest_list));
    Status gone;
    for (const ManifestFile& manifest : manifests) {
      if (is_over_) return Status::OK();
      const Status visited = VisitManifest(metadata, manifest);
      // Those behind it may be there all the same.
      if (IsError(visited, ErrorKind::kNotFound)) {
        gone = visited;
        continue;
      }
      FIRN_RETURN_NOT_OK(visited);
    }
    return gone;
  }

  Status VisitManifest(const TableMetadata& metadata, const ManifestFile& manifest) {
    if (visited_manifests_.contains(manifest.manifest_path)) return Status::OK();
    FIRN_RETURN_NOT_OK(stop_.Check());
    FIRN_ASSIGN_OR_RETURN(const auto entries, ReadManifest(io_, metadata, manifest));
    for (const ManifestEntry& entry : entries) {
      if (!visit_(entry.data_file)) {
        is_over_ = true;
        return Status::OK();
      }
    }
    visited_manifests_.insert(manifest.manifest_path);
    return Status::OK();
  }

  const FileIo& io_;
  const TableMetadata& current_;
  const StopToken& stop_;
  const std::function<bool(const DataFile&)>& visit_;
  std::set<SnapshotId> visited_snapshots_;
  std::set<std::string> visited_manifests_;
  bool is_over_ = false;
};

}  // namespace

Status VisitNamedFiles(const FileIo& io, const TableMetadata& metadata,
                       const StopToken& stop,
                       const std::function<bool(const DataFile&)>& visit) {
  return Walk(io, metadata, stop, visit).Run();
}

}  // namespace firn::iceberg
