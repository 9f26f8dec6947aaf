#include "firn/iceberg/update/new_snapshot.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/manifest_list_avro.h"

namespace firn::iceberg {
namespace {

std::int64_t SnapshotTime(const TableMetadata& metadata, const Snapshot* parent,
                          WallTime now) {
  const auto now_ms =
      std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch().count();
  const std::int64_t parent_ms = parent == nullptr ? 0 : parent->timestamp_ms;
  return std::max({now_ms, parent_ms, metadata.last_updated_ms});
}

Status CheckHasManifestList(const Snapshot& snapshot) {
  if (!snapshot.manifest_list.empty()) return Status::OK();
  return InvalidError(
      "snapshot {} has no manifest list, as only format version 1 allows: rewrite the "
      "table's manifests first",
      snapshot.snapshot_id);
}

/// Gives the manifests that have none their row ids, and the snapshot what it says of
/// that; nothing before format version 3.
Status GiveRowIds(const TableMetadata& metadata, Snapshot& snapshot,
                  std::vector<ManifestFile>& manifests) {
  if (!HasRowLineage(metadata.format_version)) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const std::int64_t next,
                        AssignRowIds(metadata.next_row_id, manifests));
  snapshot.first_row_id = metadata.next_row_id;
  snapshot.added_rows = next - metadata.next_row_id;
  return Status::OK();
}

/// Main at `id`, its retention rules as before.
SnapshotRef MainAt(const TableMetadata& metadata, SnapshotId id) {
  SnapshotRef ref;
  const auto main = metadata.refs.find(std::string(kMainBranch));
  if (main != metadata.refs.end()) ref = main->second;
  ref.snapshot_id = id;
  return ref;
}

}  // namespace

SnapshotId NewSnapshotId(const TableMetadata& metadata, Runtime& runtime) {
  constexpr std::uint64_t kPositiveMask = std::numeric_limits<std::int64_t>::max();
  while (true) {
    const SnapshotId id(static_cast<std::int64_t>(runtime.Random64() & kPositiveMask));
    if (id.value() != 0 && FindSnapshot(metadata, id) == nullptr) return id;
  }
}

Result<std::vector<ManifestFile>> ManifestsOfMain(const FileIo& io,
                                                  const TableMetadata& metadata) {
  const Snapshot* snapshot = CurrentSnapshot(metadata);
  if (snapshot == nullptr) return std::vector<ManifestFile>();
  FIRN_RETURN_NOT_OK(CheckHasManifestList(*snapshot));
  return ReadManifestList(io, snapshot->manifest_list);
}

Result<std::optional<std::vector<ManifestFile>>> KeepManifestListOfMain(
    const FileIo& io, const TableMetadata& metadata, KeptManifestList& kept) {
  const Snapshot* snapshot = CurrentSnapshot(metadata);
  if (snapshot == nullptr) {
    kept = {};
    return std::nullopt;
  }
  FIRN_RETURN_NOT_OK(CheckHasManifestList(*snapshot));
  if (kept.location == snapshot->manifest_list) return std::nullopt;
  FIRN_ASSIGN_OR_RETURN(std::string bytes, io.Read(snapshot->manifest_list));
  // Once it is kept nobody looks into all of it any more.
  auto manifests = DecodeManifestList(bytes);
  FIRN_RETURN_NOT_OK(AddContext(manifests.status(), snapshot->manifest_list));
  kept = {.location = snapshot->manifest_list, .bytes = std::move(bytes)};
  return *std::move(manifests);
}

Result<PreparedSnapshot> PrepareSnapshot(const FileIo& io, const TableMetadata& metadata,
                                         NewSnapshot made, WallTime now) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  const SnapshotSequence sequence(metadata.last_sequence_number.value() + 1);
  Snapshot snapshot{
      .snapshot_id = made.id,
      .parent_snapshot_id = metadata.current_snapshot_id,
      .sequence_number = sequence,
      .timestamp_ms = SnapshotTime(metadata, CurrentSnapshot(metadata), now),
      .manifest_list = fmt::format("{}/snap-{}-{}-{}.avro", MetadataFolder(metadata),
                                   made.id, made.attempt, made.commit_uuid),
      .manifests = {},
      .summary = std::move(made.summary),
      .schema_id = metadata.current_schema_id,
      .first_row_id = std::nullopt,
      .added_rows = std::nullopt,
      .unknown = {}};
  FIRN_RETURN_NOT_OK(GiveRowIds(metadata, snapshot, made.manifests));
  FIRN_ASSIGN_OR_RETURN(
      std::string list,
      WriteManifestList(io,
                        {.location = snapshot.manifest_list,
                         .snapshot_id = snapshot.snapshot_id,
                         .parent_snapshot_id = snapshot.parent_snapshot_id,
                         .sequence_number = sequence,
                         .format_version = metadata.format_version,
                         .first_row_id = snapshot.first_row_id},
                        std::move(made.manifests), made.taken_over));
  KeptManifestList kept = {.location = snapshot.manifest_list, .bytes = std::move(list)};
  SnapshotRef main = MainAt(metadata, snapshot.snapshot_id);
  return PreparedSnapshot{
      .requirements = {AssertTableUuid{metadata.table_uuid},
                       AssertRefSnapshotId{std::string(kMainBranch),
                                           metadata.current_snapshot_id}},
      .updates = {AddSnapshot{snapshot},
                  SetSnapshotRef{std::string(kMainBranch), std::move(main)}},
      .snapshot = std::move(snapshot),
      .manifest_list = std::move(kept)};
}

}  // namespace firn::iceberg
