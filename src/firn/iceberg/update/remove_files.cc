#include "firn/iceberg/update/remove_files.h"

#include <charconv>
#include <utility>
#include <vector>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/update/new_snapshot.h"

namespace firn::iceberg {
namespace {

struct Removed {
  std::int64_t files = 0;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  std::set<std::string> partitions;
};

/// Marks the entries of one manifest as they are in the next snapshot. False if none of
/// the files is in it.
Result<bool> MarkRemoved(const TableMetadata& metadata, const FileRemoval& removal,
                         std::vector<ManifestEntry>& entries, Removed& removed) {
  // An entry that an earlier snapshot removed is not repeated.
  std::erase_if(entries, [](const auto& e) { return e.status == EntryStatus::kDeleted; });
  bool found = false;
  for (ManifestEntry& entry : entries) {
    const DataFile& file = entry.data_file;
    if (!entry.sequence_number) {
      return Error(ErrorKind::kCorruption, "{}: an entry without a sequence number",
                   file.file_path);
    }
    entry.status = EntryStatus::kExisting;
    if (!removal.paths.contains(file.file_path)) continue;
    found = true;
    entry.status = EntryStatus::kDeleted;
    entry.snapshot_id = removal.snapshot_id;
    FIRN_ASSIGN_OR_RETURN(std::string partition, PartitionPathOf(metadata, file));
    removed.partitions.insert(
        fmt::format("{} {}", file.partition_spec_id, std::move(partition)));
    removed.files += 1;
    removed.records += file.record_count;
    removed.bytes += file.file_size_in_bytes;
  }
  return found;
}

Status CheckIsWhole(const ManifestFile& manifest) {
  const UnknownField* unknown = FindUnknownField(manifest);
  if (unknown == nullptr) return Status::OK();
  return InvalidError(
      "{}: the manifest list says of it what Firn does not know, and would lose if it "
      "wrote the manifest anew: remove files with the engine that wrote it (field {})",
      manifest.manifest_path, unknown->schema);
}

/// The parent's total less what was removed; nothing where it has none that could be
/// right.
std::optional<std::int64_t> TotalWithout(const Snapshot& parent, const char* key,
                                         std::int64_t removed) {
  const auto found = parent.summary.find(key);
  if (found == parent.summary.end()) return std::nullopt;
  const std::string& text = found->second;
  std::int64_t total = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), total);
  const bool is_count = error == std::errc() && end == text.data() + text.size();
  if (!is_count || total < removed) return std::nullopt;
  return total - removed;
}

std::map<std::string, std::string> SummaryOf(const Snapshot& parent,
                                             const Removed& removed) {
  std::map<std::string, std::string> summary = {
      {"operation", "delete"},
      {"changed-partition-count", fmt::format("{}", removed.partitions.size())},
      {"deleted-data-files", fmt::format("{}", removed.files)},
      {"deleted-records", fmt::format("{}", removed.records)},
      {"removed-files-size", fmt::format("{}", removed.bytes)}};
  const auto total = [&](const char* key, std::int64_t less) {
    if (const auto count = TotalWithout(parent, key, less)) {
      summary[key] = fmt::format("{}", *count);
    }
  };
  total("total-data-files", removed.files);
  total("total-records", removed.records);
  total("total-files-size", removed.bytes);
  for (const char* key :
       {"total-delete-files", "total-position-deletes", "total-equality-deletes"}) {
    total(key, 0);
  }
  return summary;
}

}  // namespace

Result<std::optional<PreparedSnapshot>> PrepareRemoval(const FileIo& io,
                                                       const TableMetadata& metadata,
                                                       const FileRemoval& removal,
                                                       WallTime now) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  const Snapshot* parent = CurrentSnapshot(metadata);
  if (parent == nullptr) return std::nullopt;
  FIRN_ASSIGN_OR_RETURN(std::vector<ManifestFile> manifests,
                        ManifestsOfMain(io, metadata));
  Removed removed;
  for (ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kData) continue;
    FIRN_ASSIGN_OR_RETURN(WholeManifest whole, ReadWholeManifest(io, metadata, manifest));
    FIRN_ASSIGN_OR_RETURN(const bool found,
                          MarkRemoved(metadata, removal, whole.entries, removed));
    if (!found) continue;
    FIRN_RETURN_NOT_OK(CheckIsWhole(manifest));
    const NewManifest rewritten = {
        .location = fmt::format("{}/{}-m{}.avro", MetadataFolder(metadata),
                                removal.commit_uuid, &manifest - manifests.data()),
        .partition_spec_id = manifest.partition_spec_id,
        .snapshot_id = removal.snapshot_id,
        .unknown_properties = std::move(whole.unknown_properties)};
    FIRN_ASSIGN_OR_RETURN(manifest,
                          RewriteManifest(io, metadata, rewritten, whole.entries));
  }
  if (removed.files == 0) return std::nullopt;
  return PrepareSnapshot(io, metadata,
                         {.id = removal.snapshot_id,
                          .commit_uuid = removal.commit_uuid,
                          .manifests = std::move(manifests),
                          .summary = SummaryOf(*parent, removed)},
                         now);
}

}  // namespace firn::iceberg
