#include "firn/iceberg/update/append.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"

namespace firn::iceberg {
namespace {

using Summary = std::map<std::string, std::string>;

/// A total of the snapshot summary, and what an append adds to it.
struct Total {
  const char* total_key;
  /// Null: an append adds none of these.
  const char* added_key;
  std::int64_t WrittenManifests::* added;
};

constexpr Total kTotals[] = {
    {"total-data-files", "added-data-files", &WrittenManifests::added_files},
    {"total-records", "added-records", &WrittenManifests::added_records},
    {"total-files-size", "added-files-size", &WrittenManifests::added_bytes},
    {"total-delete-files", nullptr, nullptr},
    {"total-position-deletes", nullptr, nullptr},
    {"total-equality-deletes", nullptr, nullptr},
};

std::optional<std::int64_t> ParseCount(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  return count;
}

/// The parent's total and `added`; nothing where the parent has no total that could be
/// right.
std::optional<std::int64_t> NewTotal(const Snapshot* parent, const char* key,
                                     std::int64_t added) {
  if (parent == nullptr) return added;
  const auto found = parent->summary.find(key);
  if (found == parent->summary.end()) return std::nullopt;
  const auto before = ParseCount(found->second);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!before || *before < 0 || *before > kMax - added) return std::nullopt;
  return *before + added;
}

Summary MakeSummary(const Snapshot* parent, const WrittenManifests& written,
                    const Summary& extra) {
  Summary summary{
      {"operation", "append"},
      {"changed-partition-count", fmt::format("{}", written.changed_partitions)}};
  for (const Total& total : kTotals) {
    const std::int64_t added = total.added_key == nullptr ? 0 : written.*total.added;
    if (added > 0) summary[total.added_key] = fmt::format("{}", added);
    if (const auto count = NewTotal(parent, total.total_key, added)) {
      summary[total.total_key] = fmt::format("{}", *count);
    }
  }
  summary.insert(extra.begin(), extra.end());
  return summary;
}

/// The manifests of a snapshot; none without one.
Result<std::vector<ManifestFile>> ManifestsOf(const FileIo& io,
                                              const Snapshot* snapshot) {
  if (snapshot == nullptr) return std::vector<ManifestFile>();
  if (snapshot->manifest_list.empty()) {
    return InvalidError(
        "snapshot {} has no manifest list, as only format version 1 allows: rewrite the "
        "table's manifests first",
        snapshot->snapshot_id);
  }
  return ReadManifestList(io, snapshot->manifest_list);
}

std::int64_t SnapshotTime(const TableMetadata& metadata, const Snapshot* parent,
                          WallTime now) {
  const auto now_ms =
      std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch().count();
  const std::int64_t parent_ms = parent == nullptr ? 0 : parent->timestamp_ms;
  return std::max({now_ms, parent_ms, metadata.last_updated_ms});
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

Result<WrittenManifests> WriteManifests(const FileIo& io, const TableMetadata& metadata,
                                        const std::vector<DataFile>& files,
                                        SnapshotId snapshot_id, std::string commit_uuid) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  WrittenManifests written{
      .snapshot_id = snapshot_id, .commit_uuid = std::move(commit_uuid), .manifests = {}};
  std::map<PartitionSpecId, std::vector<DataFile>> by_spec;
  std::set<std::pair<PartitionSpecId, std::string>> partitions;
  for (const DataFile& file : files) {
    FIRN_ASSIGN_OR_RETURN(std::string path, PartitionPathOf(metadata, file));
    partitions.emplace(file.partition_spec_id, std::move(path));
    written.added_files += 1;
    written.added_records += file.record_count;
    written.added_bytes += file.file_size_in_bytes;
    by_spec[file.partition_spec_id].push_back(file);
  }
  written.changed_partitions = static_cast<std::int64_t>(partitions.size());
  for (const auto& [spec_id, spec_files] : by_spec) {
    const NewManifest manifest{
        .location = fmt::format("{}/{}-m{}.avro", MetadataFolder(metadata),
                                written.commit_uuid, written.manifests.size()),
        .partition_spec_id = spec_id,
        .snapshot_id = snapshot_id};
    FIRN_ASSIGN_OR_RETURN(ManifestFile line,
                          WriteManifest(io, metadata, manifest, spec_files));
    written.manifests.push_back(std::move(line));
  }
  return written;
}

Result<PreparedAppend> PrepareAppend(const FileIo& io, const TableMetadata& metadata,
                                     const WrittenManifests& written,
                                     const AppendAttempt& attempt, WallTime now) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  const Snapshot* parent = CurrentSnapshot(metadata);
  const SnapshotSequence sequence(metadata.last_sequence_number.value() + 1);
  Snapshot snapshot{.snapshot_id = written.snapshot_id,
                    .parent_snapshot_id = metadata.current_snapshot_id,
                    .sequence_number = sequence,
                    .timestamp_ms = SnapshotTime(metadata, parent, now),
                    .manifest_list = fmt::format(
                        "{}/snap-{}-{}-{}.avro", MetadataFolder(metadata),
                        written.snapshot_id, attempt.number, written.commit_uuid),
                    .manifests = {},
                    .summary = MakeSummary(parent, written, attempt.summary),
                    .schema_id = metadata.current_schema_id,
                    .unknown = {}};

  std::vector<ManifestFile> manifests = written.manifests;
  FIRN_ASSIGN_OR_RETURN(std::vector<ManifestFile> earlier, ManifestsOf(io, parent));
  manifests.insert(manifests.end(), std::make_move_iterator(earlier.begin()),
                   std::make_move_iterator(earlier.end()));
  FIRN_RETURN_NOT_OK(WriteManifestList(io,
                                       {.location = snapshot.manifest_list,
                                        .snapshot_id = snapshot.snapshot_id,
                                        .parent_snapshot_id = snapshot.parent_snapshot_id,
                                        .sequence_number = sequence},
                                       std::move(manifests)));
  SnapshotRef main = MainAt(metadata, snapshot.snapshot_id);
  return PreparedAppend{
      .requirements = {AssertTableUuid{metadata.table_uuid},
                       AssertRefSnapshotId{std::string(kMainBranch),
                                           metadata.current_snapshot_id}},
      .updates = {AddSnapshot{snapshot},
                  SetSnapshotRef{std::string(kMainBranch), std::move(main)}},
      .snapshot = std::move(snapshot)};
}

}  // namespace firn::iceberg
