#include "firn/wal/quarantine.h"

#include <algorithm>
#include <utility>

#include "firn/wal/load_manifest.h"
#include "firn/wal/segment_format.h"

namespace firn::wal {
namespace {

constexpr std::string_view kSegmentSuffix = ".parquet";
constexpr std::string_view kMarkerSuffix = ".skip";
constexpr std::string_view kHeader = "firn quarantine 1\n";
/// The whole marker of a segment whose release has begun.
constexpr std::string_view kReleaseText = "firn quarantine release 1\n";

std::string WithSuffix(std::string_view key, std::string_view suffix,
                       std::string_view other) {
  return fmt::format("{}{}", key.substr(0, key.size() - suffix.size()), other);
}

SegmentSequence Reached(const Positions& positions, const ShardId& shard) {
  const auto found = positions.shards.find(shard);
  return found == positions.shards.end() ? SegmentSequence(0) : found->second;
}

}  // namespace

std::string QuarantineKey(const SegmentName& name) {
  return WithSuffix(SegmentKey(name), kSegmentSuffix, kMarkerSuffix);
}

std::optional<SegmentName> ParseQuarantineKey(std::string_view key) {
  if (!key.ends_with(kMarkerSuffix)) return std::nullopt;
  return ParseSegmentKey(WithSuffix(key, kMarkerSuffix, kSegmentSuffix));
}

Status WriteQuarantine(storage::ObjectStore& store, const SegmentName& name,
                       const std::vector<SourceRange>& ranges) {
  return store.PutWhole(QuarantineKey(name),
                        fmt::format("{}{}\n", kHeader, EncodeSourceRanges(ranges)));
}

Status BeginRelease(storage::ObjectStore& store, const SegmentName& name) {
  const std::string key = QuarantineKey(name);
  FIRN_ASSIGN_OR_RETURN(const std::string text, store.GetWhole(key));
  if (text == kReleaseText) return Status::OK();
  return store.PutWhole(key, kReleaseText);
}

Result<std::vector<SourceRange>> ReadQuarantine(storage::ObjectStore& store,
                                                const SegmentName& name) {
  const std::string key = QuarantineKey(name);
  FIRN_ASSIGN_OR_RETURN(const std::string text, store.GetWhole(key));
  if (text == kReleaseText) {
    return Error(ErrorKind::kConflict,
                 "{}: its release has begun, and is not finished; unless it is still "
                 "running, 'firn wal release' finishes it",
                 SegmentKey(name));
  }
  const bool has_form = text.starts_with(kHeader) && text.ends_with('\n');
  if (has_form && text.size() > kHeader.size()) {
    const auto ranges = DecodeSourceRanges(
        std::string_view(text).substr(kHeader.size(), text.size() - kHeader.size() - 1));
    if (ranges) return *ranges;
  }
  return Error(ErrorKind::kCorruption,
               "{} is no quarantine marker; delete it, and put the segment in quarantine "
               "again",
               key);
}

std::vector<std::vector<SourceRange>> FindMissingRanges(
    Positions positions, const std::vector<ListedSegment>& readable,
    const std::vector<SegmentName>& names) {
  // Elsewhere a source that the table does not know starts with the first range that is
  // there: of a load that would hide that its first records are missing.
  for (const ListedSegment& segment : readable) {
    for (const SourceRange& range : segment.ranges) {
      if (IsLoadSource(range.source)) positions.sources.emplace(range.source, 0);
    }
  }
  std::vector<ListedSegment> listing = readable;
  for (const SegmentName& name : names) listing.push_back({.name = name});
  const std::size_t first = readable.size();
  while (true) {
    const Admission admission = Admit(positions, listing);
    bool has_found = false;
    for (const WaitingShard& waiting : admission.waiting) {
      // The last one that the shard has passed: what follows it waits for its range.
      ListedSegment* missing = nullptr;
      for (std::size_t i = first; i < listing.size(); ++i) {
        const SegmentName& name = listing[i].name;
        const bool is_passed = name.shard == waiting.shard &&
                               name.sequence <= Reached(admission.next, name.shard);
        const bool is_later =
            missing == nullptr || missing->name.sequence < name.sequence;
        if (is_passed && is_later) missing = &listing[i];
      }
      if (missing == nullptr) continue;
      const bool is_known = std::ranges::any_of(missing->ranges, [&](const auto& range) {
        return range.source == waiting.source;
      });
      if (is_known) continue;
      missing->ranges.push_back(
          {.source = waiting.source, .first = waiting.position, .next = waiting.first});
      has_found = true;
    }
    if (!has_found) break;
  }
  std::vector<std::vector<SourceRange>> ranges;
  for (std::size_t i = first; i < listing.size(); ++i) {
    ranges.push_back(std::move(listing[i].ranges));
  }
  return ranges;
}

}  // namespace firn::wal
