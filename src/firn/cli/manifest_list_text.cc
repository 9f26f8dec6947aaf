#include "firn/cli/manifest_list_text.h"

#include <map>
#include <optional>
#include <utility>

#include "firn/cli/key_text.h"
#include "firn/cli/manifest_text.h"
#include "firn/cli/terminal.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/types/single_value.h"

namespace firn::cli {

using iceberg::ManifestFile;
using iceberg::ManifestHeader;

namespace {

/// What is known of the specs of a manifest list: its manifests say it.
using SpecHeaders = std::map<PartitionSpecId, ManifestHeader>;

SpecHeaders ReadSpecs(const std::vector<ManifestFile>& manifests, const Stores& stores) {
  SpecHeaders headers;
  for (const ManifestFile& manifest : manifests) {
    if (headers.contains(manifest.partition_spec_id)) continue;
    // Without it bounds are shown as bytes.
    const auto bytes = stores.Read(manifest.manifest_path);
    if (!bytes.ok()) continue;
    auto header = iceberg::DecodeManifestHeader(*bytes);
    if (header.ok() && *header) headers[manifest.partition_spec_id] = **std::move(header);
  }
  return headers;
}

/// One partition field of one manifest.
struct PartitionRange {
  std::string name;
  bool has_nulls = false;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

std::vector<PartitionRange> RangesOf(const SpecHeaders& headers,
                                     const ManifestFile& manifest) {
  std::vector<PartitionRange> ranges;
  if (!manifest.partitions) return ranges;
  const auto found = headers.find(manifest.partition_spec_id);
  const ManifestHeader* header = found == headers.end() ? nullptr : &found->second;
  for (std::size_t i = 0; i < manifest.partitions->size(); ++i) {
    const iceberg::FieldSummary& summary = (*manifest.partitions)[i];
    const bool is_known = header != nullptr && i < header->spec.fields.size();
    const auto text =
        [&](const std::optional<std::string>& bound) -> std::optional<std::string> {
      if (!bound) return std::nullopt;
      if (!is_known) return HexText(*bound);
      const auto value = types::FromBytes(header->partition_types[i], *bound);
      return value.ok() ? PartitionValueText(*header, i, *value) : HexText(*bound);
    };
    ranges.push_back(
        {.name = is_known ? header->spec.fields[i].name : fmt::format("field {}", i + 1),
         .has_nulls = summary.contains_null,
         .lower = text(summary.lower_bound),
         .upper = text(summary.upper_bound)});
  }
  return ranges;
}

/// "month 2013-01 to 2013-12, carrier AA to YV or null".
std::string RangesText(const std::vector<PartitionRange>& ranges) {
  std::string text;
  for (const PartitionRange& range : ranges) {
    if (!text.empty()) text += ", ";
    text += range.name;
    if (range.lower && range.upper) {
      text += *range.lower == *range.upper
                  ? " " + *range.lower
                  : fmt::format(" {} to {}", *range.lower, *range.upper);
    }
    if (range.has_nulls) text += range.lower ? " or null" : " null";
  }
  return text;
}

std::string FilesText(const std::optional<std::int32_t>& files,
                      const std::optional<std::int64_t>& rows) {
  if (!files) return "?";
  if (!rows) return FormatCount(*files);
  return *files == 0
             ? "0"
             : fmt::format("{} ({})", FormatCount(*files), FormatCounted(*rows, "row"));
}

}  // namespace

void PrintManifestList(const std::string& file,
                       const std::vector<ManifestFile>& manifests, const Stores& stores) {
  fmt::print("manifest list  {}\n\n", Printable(file));
  const SpecHeaders headers = ReadSpecs(manifests, stores);
  TextTable table({{"content"},
                   {"snapshot", Align::kRight},
                   {"sequence", Align::kRight},
                   {"added", Align::kRight},
                   {"existing", Align::kRight},
                   {"deleted", Align::kRight},
                   {"size", Align::kRight},
                   {"partitions"},
                   {"manifest", Align::kLeft, kNoLimit}});
  for (const ManifestFile& manifest : manifests) {
    const std::string& path = manifest.manifest_path;
    table.AddRow({std::string(ContentName(manifest.content)),
                  fmt::format("{}", manifest.added_snapshot_id),
                  TextOrInherited(manifest.sequence_number),
                  FilesText(manifest.added_files_count, manifest.added_rows_count),
                  FilesText(manifest.existing_files_count, manifest.existing_rows_count),
                  FilesText(manifest.deleted_files_count, manifest.deleted_rows_count),
                  FormatBytes(manifest.manifest_length),
                  RangesText(RangesOf(headers, manifest)),
                  path.substr(path.rfind('/') + 1)});
  }
  fmt::print("{}", table.ToString());
}

Json ManifestListJson(const std::string& file, const std::vector<ManifestFile>& manifests,
                      const Stores& stores) {
  const auto number = [](const auto& count) {
    return count ? Json(*count) : Json(nullptr);
  };
  const SpecHeaders headers = ReadSpecs(manifests, stores);
  Json json = {{"manifest_list", file}, {"manifests", Json::array()}};
  for (const ManifestFile& manifest : manifests) {
    Json partitions = Json::array();
    for (const PartitionRange& range : RangesOf(headers, manifest)) {
      partitions.push_back({{"name", range.name},
                            {"nulls", range.has_nulls},
                            {"lower", number(range.lower)},
                            {"upper", number(range.upper)}});
    }
    json["manifests"].push_back(
        {{"path", manifest.manifest_path},
         {"bytes", manifest.manifest_length},
         {"content", ContentName(manifest.content)},
         {"partition_spec_id", manifest.partition_spec_id.value()},
         {"snapshot_id", fmt::to_string(manifest.added_snapshot_id)},
         {"sequence_number", JsonOf(manifest.sequence_number)},
         {"min_sequence_number", JsonOf(manifest.min_sequence_number)},
         {"first_row_id", number(manifest.first_row_id)},
         {"added_files", number(manifest.added_files_count)},
         {"added_rows", number(manifest.added_rows_count)},
         {"existing_files", number(manifest.existing_files_count)},
         {"existing_rows", number(manifest.existing_rows_count)},
         {"deleted_files", number(manifest.deleted_files_count)},
         {"deleted_rows", number(manifest.deleted_rows_count)},
         {"partitions", std::move(partitions)}});
  }
  return json;
}

}  // namespace firn::cli
