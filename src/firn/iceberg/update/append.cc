#include "firn/iceberg/update/append.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "firn/core/whole_number.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/serde/manifest_list_avro.h"

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

/// Totals of the parent, by summary key; only those that are known.
using Totals = std::map<std::string, std::int64_t>;

/// What the manifest list tells where a writer left totals out: sizes it does not, and
/// which kind of deletes only if there are none.
Totals CountManifests(const std::vector<ManifestFile>& manifests) {
  std::int64_t files[] = {0, 0};
  std::int64_t records = 0;
  for (const ManifestFile& manifest : manifests) {
    const bool is_counted = manifest.added_files_count && manifest.existing_files_count &&
                            manifest.added_rows_count && manifest.existing_rows_count;
    if (!is_counted) return {};
    const bool is_data = manifest.content == ManifestContent::kData;
    files[is_data ? 0 : 1] +=
        *manifest.added_files_count + *manifest.existing_files_count;
    if (is_data) records += *manifest.added_rows_count + *manifest.existing_rows_count;
  }
  Totals totals = {{"total-data-files", files[0]},
                   {"total-records", records},
                   {"total-delete-files", files[1]}};
  if (files[1] == 0) {
    totals["total-position-deletes"] = 0;
    totals["total-equality-deletes"] = 0;
  }
  return totals;
}

/// `list` is the parent's.
Result<Totals> TotalsBefore(const TableMetadata& metadata, std::string_view list) {
  Totals totals;
  const Snapshot* parent = CurrentSnapshot(metadata);
  for (const Total& total : kTotals) {
    if (parent == nullptr) {
      totals[total.total_key] = 0;
      continue;
    }
    const auto found = parent->summary.find(total.total_key);
    const auto count = found == parent->summary.end()
                           ? std::nullopt
                           : ParseWholeNumber<std::int64_t>(found->second);
    if (count && *count >= 0) totals[total.total_key] = *count;
  }
  if (totals.size() == std::size(kTotals)) return totals;
  FIRN_ASSIGN_OR_RETURN(const auto manifests, DecodeManifestList(list));
  totals.merge(CountManifests(manifests));
  return totals;
}

Summary MakeSummary(const Totals& before, const WrittenManifests& written,
                    const Summary& extra) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Summary summary{
      {"operation", "append"},
      {"changed-partition-count", fmt::format("{}", written.changed_partitions)}};
  for (const Total& total : kTotals) {
    const std::int64_t added = total.added_key == nullptr ? 0 : written.*total.added;
    if (added > 0) summary[total.added_key] = fmt::format("{}", added);
    const auto count = before.find(total.total_key);
    if (count == before.end() || count->second > kMax - added) continue;
    summary[total.total_key] = fmt::format("{}", count->second + added);
  }
  summary.insert(extra.begin(), extra.end());
  return summary;
}

/// The manifests of the parent's list: `earlier`, if they are known.
Status AddEarlier(std::string_view list, std::optional<std::vector<ManifestFile>> earlier,
                  std::int32_t format_version, NewSnapshot& snapshot) {
  if (list.empty()) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const bool is_own, CanTakeOverManifestList(list, format_version));
  if (is_own) {
    snapshot.taken_over = list;
    return Status::OK();
  }
  if (!earlier) {
    FIRN_ASSIGN_OR_RETURN(earlier, DecodeManifestList(list));
  }
  std::ranges::move(*earlier, std::back_inserter(snapshot.manifests));
  return Status::OK();
}

}  // namespace

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

Result<PreparedSnapshot> PrepareAppend(const FileIo& io, const TableMetadata& metadata,
                                       const WrittenManifests& written,
                                       const AppendAttempt& attempt, WallTime now) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  KeptManifestList only_here;
  KeptManifestList& kept = attempt.kept == nullptr ? only_here : *attempt.kept;
  FIRN_ASSIGN_OR_RETURN(auto earlier, KeepManifestListOfMain(io, metadata, kept));
  FIRN_ASSIGN_OR_RETURN(const Totals totals, TotalsBefore(metadata, kept.bytes));
  NewSnapshot snapshot{.id = written.snapshot_id,
                       .commit_uuid = written.commit_uuid,
                       .attempt = attempt.number,
                       .manifests = written.manifests,
                       .summary = MakeSummary(totals, written, attempt.summary)};
  FIRN_RETURN_NOT_OK(
      AddEarlier(kept.bytes, std::move(earlier), metadata.format_version, snapshot));
  FIRN_ASSIGN_OR_RETURN(PreparedSnapshot prepared,
                        PrepareSnapshot(io, metadata, std::move(snapshot), now));
  kept = prepared.manifest_list;
  return prepared;
}

}  // namespace firn::iceberg
