#include "firn/shift/batch_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "firn/core/ulid.h"
#include "firn/shift/chunk_output.h"
#include "firn/shift/data_file_location.h"

namespace firn::shift {
namespace {

constexpr std::string_view kEnding = ".parquet";
constexpr std::size_t kChunkDigitsMin = 5;

bool IsMadeOf(std::string_view characters, std::string_view text) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool IsNumber(std::string_view text) { return IsMadeOf("0123456789", text); }

/// Takes the text before the first '-', and that, off the front; all if there is none.
std::string_view TakePart(std::string_view& name) {
  const std::string_view part = name.substr(0, name.find('-'));
  name.remove_prefix(std::min(part.size() + 1, name.size()));
  return part;
}

}  // namespace

std::string ChunkName(std::string_view batch, std::size_t chunk) {
  return fmt::format("{}-{:0{}}", batch, chunk, kChunkDigitsMin);
}

std::string ChunkFileName(std::string_view chunk_name, std::size_t file) {
  if (file == 0) return fmt::format("{}{}", chunk_name, kEnding);
  return fmt::format("{}-{}{}", chunk_name, file, kEnding);
}

bool IsFileNameOf(const BatchId& batch, std::string_view name) {
  if (!name.ends_with(kEnding)) return false;
  name.remove_suffix(kEnding.size());
  if (name.ends_with('-')) return false;
  std::string_view part = TakePart(name);
  if (part != batch.value() && IsMadeOf("01", part)) part = TakePart(name);
  if (part != batch.value()) return false;
  const std::string_view chunk = TakePart(name);
  return chunk.size() >= kChunkDigitsMin && IsNumber(chunk) &&
         (name.empty() || IsNumber(name));
}

std::string_view BatchInFileName(std::string_view name) {
  std::string_view part = TakePart(name);
  if (!IsUlid(part)) part = TakePart(name);
  return IsUlid(part) ? part : std::string_view();
}

Result<std::vector<std::string>> BatchFilePrefixes(
    const iceberg::TableMetadata& metadata, const planner::PlanInput& input,
    const std::vector<planner::Chunk>& chunks, const BatchId& batch) {
  const bool is_spread = HasFoldersByName(metadata);
  std::set<std::string> prefixes;
  const planner::Bucket* last = nullptr;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const planner::Bucket& bucket = input.buckets[chunks[i].bucket];
    if (&bucket == std::exchange(last, &bucket) && !is_spread) continue;
    FIRN_ASSIGN_OR_RETURN(const ChunkTarget target, FindTarget(metadata, bucket));
    for (std::size_t file = 0; file < (is_spread ? kNotedFilesOfChunk : 1); ++file) {
      const std::string name = is_spread
                                   ? ChunkFileName(ChunkName(batch.value(), i), file)
                                   : fmt::format("{}-", batch);
      FIRN_ASSIGN_OR_RETURN(std::string prefix, DataFileLocation(metadata, target.spec,
                                                                 bucket.partition, name));
      prefixes.insert(std::move(prefix));
    }
  }
  return std::vector<std::string>(prefixes.begin(), prefixes.end());
}

}  // namespace firn::shift
