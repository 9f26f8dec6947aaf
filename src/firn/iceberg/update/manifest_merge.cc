#include "firn/iceberg/update/manifest_merge.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "firn/core/ulid.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/table_properties.h"

namespace firn::iceberg {
namespace {

constexpr const char* kEnabled = "commit.manifest-merge.enabled";
constexpr const char* kTargetSize = "commit.manifest.target-size-bytes";
constexpr const char* kMinCount = "commit.manifest.min-count-to-merge";
constexpr std::string_view kTotalPrefix = "total-";

Status ReadPositive(const TableMetadata& metadata, const char* name,
                    std::int64_t& target) {
  const std::string* text = FindTableProperty(metadata, name);
  if (text == nullptr) return Status::OK();
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [parsed_to, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || parsed_to != end || value <= 0) {
    return InvalidError("table property {}: expected a positive whole number, got \"{}\"",
                        name, *text);
  }
  target = value;
  return Status::OK();
}

using Bin = std::vector<ManifestFile>;

/// What a merge leaves alone, and what it makes one manifest of each.
struct MergePlan {
  Bin kept;
  std::vector<Bin> merged;
};

/// Small, and with nothing that a manifest in its place would lose.
bool IsMergeable(const ManifestFile& manifest, const ManifestMergeLimits& limits) {
  return manifest.content == ManifestContent::kData && !manifest.key_metadata &&
         FindUnknownField(manifest) == nullptr &&
         manifest.manifest_length < limits.target_size_bytes;
}

/// Neighbours together, up to the target size.
std::vector<Bin> Pack(Bin manifests, const ManifestMergeLimits& limits) {
  std::vector<Bin> bins;
  std::int64_t open_bytes = 0;
  for (ManifestFile& manifest : manifests) {
    const bool fits = open_bytes + manifest.manifest_length <= limits.target_size_bytes;
    if (bins.empty() || !fits) {
      bins.emplace_back();
      open_bytes = 0;
    }
    open_bytes += manifest.manifest_length;
    bins.back().push_back(std::move(manifest));
  }
  return bins;
}

MergePlan PlanMerge(std::vector<ManifestFile> manifests,
                    const ManifestMergeLimits& limits) {
  MergePlan plan;
  std::map<PartitionSpecId, Bin> small;
  for (ManifestFile& manifest : manifests) {
    Bin& bin =
        IsMergeable(manifest, limits) ? small[manifest.partition_spec_id] : plan.kept;
    bin.push_back(std::move(manifest));
  }
  for (auto& [spec, candidates] : small) {
    const bool are_many = std::cmp_greater_equal(candidates.size(), limits.min_count);
    for (Bin& bin : Pack(std::move(candidates), limits)) {
      if (are_many && bin.size() > 1) {
        plan.merged.push_back(std::move(bin));
      } else {
        std::ranges::move(bin, std::back_inserter(plan.kept));
      }
    }
  }
  return plan;
}

/// One manifest that takes the place of several.
struct Merged {
  Bin replaced;
  std::vector<ManifestEntry> entries;
};

bool IsWhole(const ManifestEntry& entry) { return entry.unknown_field.empty(); }

/// What one manifest says of itself holds of all its files, so that only those that say
/// the same are merged.
using MergedByProperties = std::map<ManifestProperties, Merged>;

/// The live entries of those in the bin that can be written anew. Others go to `kept`: an
/// entry has to be the same in every manifest that it is in, also where it says what only
/// a later version understands.
Result<MergedByProperties> ReadBin(const FileIo& io, const TableMetadata& metadata,
                                   const Bin& bin, Bin& kept) {
  MergedByProperties merged;
  for (const ManifestFile& manifest : bin) {
    FIRN_ASSIGN_OR_RETURN(WholeManifest whole, ReadWholeManifest(io, metadata, manifest));
    if (!std::ranges::all_of(whole.entries, IsWhole)) {
      kept.push_back(manifest);
      continue;
    }
    Merged& alike = merged[std::move(whole.unknown_properties)];
    alike.replaced.push_back(manifest);
    for (ManifestEntry& entry : whole.entries) {
      if (entry.status == EntryStatus::kDeleted) continue;
      entry.status = EntryStatus::kExisting;
      alike.entries.push_back(std::move(entry));
    }
  }
  return merged;
}

/// Adds the manifest to the snapshot; none without entries.
Status WriteMerged(const FileIo& io, const TableMetadata& metadata,
                   const ManifestProperties& properties, const Merged& merged,
                   NewSnapshot& snapshot) {
  if (merged.entries.empty()) return Status::OK();
  const NewManifest manifest{
      .location = fmt::format("{}/{}-m{}.avro", MetadataFolder(metadata),
                              snapshot.commit_uuid, snapshot.manifests.size()),
      .partition_spec_id = merged.replaced.front().partition_spec_id,
      .snapshot_id = snapshot.id,
      .unknown_properties = properties};
  FIRN_ASSIGN_OR_RETURN(ManifestFile line,
                        RewriteManifest(io, metadata, manifest, merged.entries));
  snapshot.manifests.push_back(std::move(line));
  return Status::OK();
}

struct MergeFigures {
  std::size_t created = 0;
  std::size_t kept = 0;
  std::size_t replaced = 0;
  std::size_t entries = 0;
};

/// Of a snapshot that changes manifests alone.
std::map<std::string, std::string> SummaryOf(const TableMetadata& metadata,
                                             const MergeFigures& figures) {
  std::map<std::string, std::string> summary = {
      {"operation", "replace"},
      {"manifests-created", fmt::format("{}", figures.created)},
      {"manifests-kept", fmt::format("{}", figures.kept)},
      {"manifests-replaced", fmt::format("{}", figures.replaced)},
      {"entries-processed", fmt::format("{}", figures.entries)}};
  for (const auto& [key, value] : CurrentSnapshot(metadata)->summary) {
    if (key.starts_with(kTotalPrefix)) summary.emplace(key, value);
  }
  return summary;
}

}  // namespace

Result<ManifestMergeLimits> ReadManifestMergeLimits(const TableMetadata& metadata) {
  ManifestMergeLimits limits;
  if (const std::string* text = FindTableProperty(metadata, kEnabled)) {
    if (*text != "true" && *text != "false") {
      return InvalidError("table property {}: expected true or false, got \"{}\"",
                          kEnabled, *text);
    }
    limits.is_enabled = *text == "true";
  }
  FIRN_RETURN_NOT_OK(ReadPositive(metadata, kTargetSize, limits.target_size_bytes));
  FIRN_RETURN_NOT_OK(ReadPositive(metadata, kMinCount, limits.min_count));
  return limits;
}

Result<std::optional<PreparedSnapshot>> PrepareManifestMerge(
    const FileIo& io, const TableMetadata& metadata, Runtime& runtime) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  FIRN_ASSIGN_OR_RETURN(const ManifestMergeLimits limits,
                        ReadManifestMergeLimits(metadata));
  if (!limits.is_enabled || CurrentSnapshot(metadata) == nullptr) return std::nullopt;
  FIRN_ASSIGN_OR_RETURN(auto manifests, ManifestsOfMain(io, metadata));
  MergePlan plan = PlanMerge(std::move(manifests), limits);

  NewSnapshot snapshot{.id = NewSnapshotId(metadata, runtime),
                       .commit_uuid = NewUuid(runtime),
                       .manifests = {},
                       .summary = {}};
  MergeFigures figures;
  for (const Bin& bin : plan.merged) {
    FIRN_ASSIGN_OR_RETURN(MergedByProperties groups,
                          ReadBin(io, metadata, bin, plan.kept));
    for (auto& [properties, merged] : groups) {
      if (merged.replaced.size() < 2) {
        std::ranges::move(merged.replaced, std::back_inserter(plan.kept));
        continue;
      }
      figures.replaced += merged.replaced.size();
      figures.entries += merged.entries.size();
      FIRN_RETURN_NOT_OK(WriteMerged(io, metadata, properties, merged, snapshot));
    }
  }
  if (figures.replaced == 0) return std::nullopt;
  figures.created = snapshot.manifests.size();
  figures.kept = plan.kept.size();
  snapshot.summary = SummaryOf(metadata, figures);
  std::ranges::copy(plan.kept, std::back_inserter(snapshot.manifests));
  return PrepareSnapshot(io, metadata, std::move(snapshot), runtime.Now());
}

}  // namespace firn::iceberg
