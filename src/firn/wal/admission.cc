#include "firn/wal/admission.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <set>
#include <utility>

namespace firn::wal {
namespace {

/// The segments of one shard that are there one after another, oldest last.
using ShardQueue = std::vector<std::size_t>;

/// A shard's next segment, oldest first.
struct Head {
  std::int64_t modified_us = 0;
  ShardId shard;

  auto operator<=>(const Head&) const = default;
};

/// What the positions say about a segment.
struct Verdict {
  std::vector<SourceTrim> trims;
  std::optional<WaitingShard> waits;
};

class Admitter {
 public:
  Admitter(const Positions& positions, const std::vector<ListedSegment>& listing)
      : listing_(listing), admission_{.next = positions} {
    FillQueues();
    FindStarts();
  }

  Admission Run(const AdmissionLimits& limits) && {
    for (const auto& [shard, queue] : queues_) AddHead(shard);
    while (!heads_.empty()) {
      const ShardId shard = heads_.extract(heads_.begin()).value().shard;
      const std::size_t segment = queues_[shard].back();
      Verdict verdict = Judge(listing_[segment]);
      if (verdict.waits) {
        waiting_.emplace(shard, *std::move(verdict.waits));
        continue;
      }
      if (!Fits(segment, limits)) break;
      Take(segment, std::move(verdict.trims));
    }
    for (auto& [shard, wait] : waiting_) admission_.waiting.push_back(std::move(wait));
    return std::move(admission_);
  }

 private:
  void FillQueues() {
    std::map<ShardId, std::map<SegmentSequence, std::size_t>> shards;
    for (std::size_t i = 0; i < listing_.size(); ++i) {
      const SegmentName& name = listing_[i].name;
      if (name.sequence > PositionOf(admission_.next, name.shard))
        shards[name.shard][name.sequence] = i;
    }
    for (const auto& [shard, segments] : shards) FillQueue(shard, segments);
  }

  void FillQueue(const ShardId& shard,
                 const std::map<SegmentSequence, std::size_t>& segments) {
    SegmentSequence expected(PositionOf(admission_.next, shard).value() + 1);
    ShardQueue queue;
    for (const auto& [sequence, segment] : segments) {
      if (sequence != expected) {
        admission_.holes.push_back({.shard = shard, .missing = expected});
        break;
      }
      queue.push_back(segment);
      expected = SegmentSequence(expected.value() + 1);
    }
    std::ranges::reverse(queue);
    if (!queue.empty()) queues_.emplace(shard, std::move(queue));
  }

  /// A source that has no position yet begins at the smallest offset that can be taken,
  /// not at that of the oldest segment: clocks may be wrong, and what lies below a
  /// position is never taken again.
  void FindStarts() {
    for (const auto& [shard, queue] : queues_) {
      for (const std::size_t segment : queue) {
        for (const SourceRange& range : listing_[segment].ranges) {
          const auto [start, is_new] = starts_.emplace(range.source, range.first);
          start->second = std::min(start->second, range.first);
        }
      }
    }
  }

  std::int64_t SourcePosition(const std::string& source) const {
    const auto found = admission_.next.sources.find(source);
    return found == admission_.next.sources.end() ? starts_.at(source) : found->second;
  }

  void AddHead(const ShardId& shard) {
    const ShardQueue& queue = queues_[shard];
    if (!queue.empty()) heads_.insert({listing_[queue.back()].modified_us, shard});
  }

  Verdict Judge(const ListedSegment& segment) const {
    Verdict verdict;
    for (std::size_t i = 0; i < segment.ranges.size(); ++i) {
      const SourceRange& range = segment.ranges[i];
      const std::int64_t position = SourcePosition(range.source);
      if (range.first > position) {
        verdict.waits = WaitingShard{.shard = segment.name.shard,
                                     .source = range.source,
                                     .position = position,
                                     .first = range.first};
        return verdict;
      }
      if (range.first < position) verdict.trims.push_back({i, position});
    }
    return verdict;
  }

  bool Fits(std::size_t segment, const AdmissionLimits& limits) const {
    if (admission_.segments.empty()) return true;
    return admission_.segments.size() < limits.segments_max &&
           bytes_ + listing_[segment].size_bytes <= limits.bytes_max;
  }

  void Take(std::size_t segment, std::vector<SourceTrim> trims) {
    const ListedSegment& listed = listing_[segment];
    bytes_ += listed.size_bytes;
    admission_.segments.push_back({.segment = segment, .trims = std::move(trims)});
    admission_.next.shards[listed.name.shard] = listed.name.sequence;
    for (const SourceRange& range : listed.ranges) {
      const std::int64_t next = std::max(SourcePosition(range.source), range.next);
      admission_.next.sources[range.source] = next;
    }
    queues_[listed.name.shard].pop_back();
    AddHead(listed.name.shard);
    if (!listed.ranges.empty()) WakeWaiting();
  }

  /// A source went on: what waited may go on too.
  void WakeWaiting() {
    for (const auto& [shard, wait] : waiting_) AddHead(shard);
    waiting_.clear();
  }

  const std::vector<ListedSegment>& listing_;
  Admission admission_;
  std::map<ShardId, ShardQueue> queues_;
  std::map<std::string, std::int64_t> starts_;
  std::set<Head> heads_;
  std::map<ShardId, WaitingShard> waiting_;
  std::int64_t bytes_ = 0;
};

}  // namespace

SegmentSequence PositionOf(const Positions& positions, const ShardId& shard) {
  const auto found = positions.shards.find(shard);
  return found == positions.shards.end() ? SegmentSequence(0) : found->second;
}

Admission Admit(const Positions& positions, const std::vector<ListedSegment>& listing,
                const AdmissionLimits& limits) {
  return Admitter(positions, listing).Run(limits);
}

}  // namespace firn::wal
