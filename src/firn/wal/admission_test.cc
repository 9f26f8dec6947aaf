#include "firn/wal/admission.h"

#include <algorithm>
#include <optional>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "firn/core/test_seed.h"

namespace firn::wal {
namespace {

/// "a1 S:0-10 T:5-9": segment 1 of shard a; ranges behind it. Segments are 10 bytes and
/// as old as they stand in the list.
ListedSegment Listed(const std::string& text, std::int64_t modified_us) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  ListedSegment segment = {
      .name = {.shard = ShardId(word.substr(0, 1)),
               .sequence = SegmentSequence(std::stoull(word.substr(1)))},
      .size_bytes = 10,
      .modified_us = modified_us};
  while (words >> word) {
    const std::size_t dash = word.find('-');
    segment.ranges.push_back({.source = word.substr(0, 1),
                              .first = std::stoll(word.substr(2, dash - 2)),
                              .next = std::stoll(word.substr(dash + 1))});
  }
  return segment;
}

std::vector<ListedSegment> Listing(const std::vector<std::string>& texts) {
  std::vector<ListedSegment> listing;
  for (const std::string& text : texts) {
    listing.push_back(Listed(text, static_cast<std::int64_t>(listing.size())));
  }
  return listing;
}

std::string Name(const ListedSegment& segment) {
  return fmt::format("{}{}", segment.name.shard, segment.name.sequence);
}

/// "a1 a2[S<5]; hole b3; c waits for S at 7": what was taken, and why not more.
std::string Text(const std::vector<ListedSegment>& listing, const Admission& admission) {
  std::string text;
  for (const AdmittedSegment& admitted : admission.segments) {
    const ListedSegment& segment = listing[admitted.segment];
    text += (text.empty() ? "" : " ") + Name(segment);
    for (const SourceTrim& trim : admitted.trims) {
      text +=
          fmt::format("[{}<{}]", segment.ranges[trim.ordinal].source, trim.first_wanted);
    }
  }
  for (const ShardHole& hole : admission.holes) {
    text += fmt::format("; hole {}{}", hole.shard, hole.missing);
  }
  for (const WaitingShard& wait : admission.waiting) {
    text +=
        fmt::format("; {} waits for {} at {}", wait.shard, wait.source, wait.position);
  }
  return text;
}

std::string Admitted(const std::vector<std::string>& texts,
                     const Positions& positions = {},
                     const AdmissionLimits& limits = {}) {
  const std::vector<ListedSegment> listing = Listing(texts);
  return Text(listing, Admit(positions, listing, limits));
}

Positions At(std::map<ShardId, SegmentSequence> shards,
             std::map<std::string, std::int64_t> sources = {}) {
  return {.shards = std::move(shards), .sources = std::move(sources)};
}

TEST(AdmissionTest, NothingListedNothingAdmitted) { EXPECT_EQ(Admitted({}), ""); }

TEST(AdmissionTest, OldestFirstOverShardsButEachInSequence) {
  EXPECT_EQ(Admitted({"b2", "a1", "b1", "a2"}), "a1 b1 b2 a2");
}

TEST(AdmissionTest, StartsBehindThePosition) {
  EXPECT_EQ(Admitted({"a1", "a2", "a3"}, At({{ShardId("a"), SegmentSequence(2)}})), "a3");
}

TEST(AdmissionTest, AHoleEndsItsShardOnly) {
  EXPECT_EQ(Admitted({"a1", "a3", "a4", "b1"}), "a1 b1; hole a2");
  EXPECT_EQ(Admitted({"a2"}), "; hole a1");
}

TEST(AdmissionTest, AHoleThatAppearedIsTaken) {
  EXPECT_EQ(Admitted({"a1", "a3", "a2"}), "a1 a2 a3");
}

TEST(AdmissionTest, ASegmentIsTakenThoughItPassesTheLimitButOnlyTheFirst) {
  EXPECT_EQ(Admitted({"a1", "a2", "a3"}, {}, {.bytes_max = 1}), "a1");
  EXPECT_EQ(Admitted({"a1", "a2", "a3"}, {}, {.bytes_max = 20}), "a1 a2");
  EXPECT_EQ(Admitted({"a1", "a2", "a3"}, {}, {.bytes_max = 29}), "a1 a2");
}

TEST(AdmissionTest, SoManySegmentsAreTakenAndAtLeastOne) {
  EXPECT_EQ(Admitted({"a1", "b1", "a2"}, {}, {.segments_max = 2}), "a1 b1");
  EXPECT_EQ(Admitted({"a1", "b1", "a2"}, {}, {.segments_max = 0}), "a1");
}

TEST(AdmissionTest, ARangeAtThePositionIsWhole) {
  EXPECT_EQ(Admitted({"a1 S:5-9"}, At({}, {{"S", 5}})), "a1");
}

TEST(AdmissionTest, ARangeBelowThePositionIsTrimmed) {
  EXPECT_EQ(Admitted({"a1 S:0-9"}, At({}, {{"S", 5}})), "a1[S<5]");
  EXPECT_EQ(Admitted({"a1 S:0-3"}, At({}, {{"S", 5}})), "a1[S<5]");
}

TEST(AdmissionTest, ARangeAboveThePositionWaits) {
  EXPECT_EQ(Admitted({"a1 S:6-9", "b1"}, At({}, {{"S", 5}})), "b1; a waits for S at 5");
}

TEST(AdmissionTest, WhatWaitedGoesOnOnceTheGapIsFilled) {
  EXPECT_EQ(Admitted({"a1 S:6-9", "a2", "b1 S:5-6"}, At({}, {{"S", 5}})), "b1 a1 a2");
}

TEST(AdmissionTest, OnlyTheSourceThatWasLandedIsTrimmed) {
  EXPECT_EQ(Admitted({"a1 S:0-9 T:4-6"}, At({}, {{"S", 5}, {"T", 4}})), "a1[S<5]");
}

TEST(AdmissionTest, OneSourceThatWaitsHoldsTheWholeSegment) {
  EXPECT_EQ(Admitted({"a1 S:5-9 T:4-6"}, At({}, {{"S", 5}, {"T", 3}})),
            "; a waits for T at 3");
}

TEST(AdmissionTest, AnAbsentSourceAcceptsAnyFirstOffset) {
  EXPECT_EQ(Admitted({"a1 S:500-900", "a2 S:900-950"}), "a1 a2");
}

TEST(AdmissionTest, AnAbsentSourceBeginsAtItsSmallestOffsetWhateverTheClocksSay) {
  EXPECT_EQ(Admitted({"b1 S:10-20", "a1 S:0-10"}), "a1 b1");
}

TEST(AdmissionTest, WhatStandsBehindAHoleIsNotWhereASourceBegins) {
  EXPECT_EQ(Admitted({"a2 S:0-10", "b1 S:10-20"}), "b1; hole a1");
}

TEST(AdmissionTest, WrittenTwiceIsLandedOnce) {
  EXPECT_EQ(Admitted({"a1 S:0-10", "b1 S:0-10", "b2 S:10-20"}), "a1 b1[S<10] b2");
}

TEST(AdmissionTest, PositionsNeverGoBack) {
  const auto listing = Listing({"a1 S:0-3"});
  const Admission admission = Admit(At({}, {{"S", 5}, {"T", 1}}), listing);
  EXPECT_EQ(admission.next,
            At({{ShardId("a"), SegmentSequence(1)}}, {{"S", 5}, {"T", 1}}));
}

TEST(AdmissionTest, RangesWithoutRowsAdvanceThePosition) {
  const auto listing = Listing({"a1 S:7-7"});
  EXPECT_EQ(Admit({}, listing).next,
            At({{ShardId("a"), SegmentSequence(1)}}, {{"S", 7}}));
}

// ---- Against a naive model

/// Looks through everything for the oldest segment that may be taken, again and again.
class NaiveModel {
 public:
  NaiveModel(Positions positions, const std::vector<ListedSegment>& listing)
      : next_(std::move(positions)), listing_(listing) {
    for (const ListedSegment& segment : listing) {
      if (!IsReachable(segment)) continue;
      for (const SourceRange& range : segment.ranges) {
        const auto start = starts_.emplace(range.source, range.first).first;
        start->second = std::min(start->second, range.first);
      }
    }
  }

  std::vector<std::size_t> Run(std::int64_t bytes_max) {
    std::vector<std::size_t> taken;
    std::int64_t bytes = 0;
    while (const auto segment = OldestThatFits()) {
      bytes += listing_[*segment].size_bytes;
      if (!taken.empty() && bytes > bytes_max) break;
      taken.push_back(*segment);
      Advance(listing_[*segment]);
    }
    return taken;
  }

  const Positions& next() const { return next_; }

 private:
  bool IsListed(const ShardId& shard, std::uint64_t sequence) const {
    return std::ranges::any_of(listing_, [&](const ListedSegment& segment) {
      return segment.name.shard == shard && segment.name.sequence.value() == sequence;
    });
  }

  bool IsReachable(const ListedSegment& segment) {
    const std::uint64_t position = Shard(segment.name.shard);
    if (segment.name.sequence.value() <= position) return false;
    for (std::uint64_t s = position + 1; s < segment.name.sequence.value(); ++s) {
      if (!IsListed(segment.name.shard, s)) return false;
    }
    return true;
  }

  std::uint64_t Shard(const ShardId& shard) const {
    const auto found = next_.shards.find(shard);
    return found == next_.shards.end() ? 0 : found->second.value();
  }

  std::int64_t Source(const std::string& source) const {
    const auto found = next_.sources.find(source);
    return found == next_.sources.end() ? starts_.at(source) : found->second;
  }

  bool MayBeTaken(const ListedSegment& segment) const {
    if (segment.name.sequence.value() != Shard(segment.name.shard) + 1) return false;
    return std::ranges::all_of(segment.ranges, [&](const SourceRange& range) {
      return range.first <= Source(range.source);
    });
  }

  std::optional<std::size_t> OldestThatFits() const {
    std::optional<std::size_t> oldest;
    for (std::size_t i = 0; i < listing_.size(); ++i) {
      if (!MayBeTaken(listing_[i])) continue;
      if (!oldest || Age(i) < Age(*oldest)) oldest = i;
    }
    return oldest;
  }

  std::pair<std::int64_t, ShardId> Age(std::size_t i) const {
    return {listing_[i].modified_us, listing_[i].name.shard};
  }

  void Advance(const ListedSegment& segment) {
    next_.shards[segment.name.shard] = segment.name.sequence;
    for (const SourceRange& range : segment.ranges) {
      next_.sources[range.source] = std::max(Source(range.source), range.next);
    }
  }

  Positions next_;
  const std::vector<ListedSegment>& listing_;
  std::map<std::string, std::int64_t> starts_;
};

std::vector<ListedSegment> RandomListing(std::mt19937_64& random) {
  std::vector<ListedSegment> listing;
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  for (const char* shard : {"a", "b", "c"}) {
    for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) {
      if (below(6) == 0) continue;
      ListedSegment segment = {
          .name = {.shard = ShardId(shard), .sequence = SegmentSequence(sequence)},
          .size_bytes = 1 + below(10),
          .modified_us = below(8)};
      for (const char* source : {"S", "T"}) {
        if (below(2) == 0) continue;
        const int first = below(6);
        segment.ranges.push_back({source, first, first + below(5)});
      }
      listing.push_back(std::move(segment));
    }
  }
  std::ranges::shuffle(listing, random);
  return listing;
}

Positions RandomPositions(std::mt19937_64& random) {
  Positions positions;
  if (random() % 2 == 0) positions.shards[ShardId("a")] = SegmentSequence(random() % 3);
  if (random() % 2 == 0) positions.sources["S"] = static_cast<int>(random() % 4);
  return positions;
}

TEST(AdmissionTest, DoesAsTheNaiveModelDoes) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const auto listing = RandomListing(random);
    const Positions positions = RandomPositions(random);
    const std::int64_t bytes_max = 1 + static_cast<std::int64_t>(random() % 80);
    NaiveModel model(positions, listing);
    const std::vector<std::size_t> expected = model.Run(bytes_max);
    const Admission admission = Admit(positions, listing, {.bytes_max = bytes_max});
    std::vector<std::size_t> taken;
    for (const AdmittedSegment& segment : admission.segments) {
      taken.push_back(segment.segment);
    }
    ASSERT_EQ(taken, expected) << "case " << i;
    ASSERT_EQ(admission.next, model.next()) << "case " << i;
  }
}

/// Every offset is wanted at most once, and none that a taken range covers is lost.
TEST(AdmissionTest, EachOffsetIsLandedExactlyOnce) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const auto listing = RandomListing(random);
    const Positions positions = RandomPositions(random);
    const Admission admission = Admit(positions, listing);
    std::map<std::pair<std::string, std::int64_t>, int> landed;
    for (const AdmittedSegment& admitted : admission.segments) {
      const ListedSegment& segment = listing[admitted.segment];
      std::map<std::size_t, std::int64_t> trims;
      for (const SourceTrim& trim : admitted.trims) {
        trims[trim.ordinal] = trim.first_wanted;
      }
      for (std::size_t ordinal = 0; ordinal < segment.ranges.size(); ++ordinal) {
        const SourceRange& range = segment.ranges[ordinal];
        std::int64_t offset = range.first;
        if (trims.contains(ordinal)) offset = std::max(offset, trims[ordinal]);
        for (; offset < range.next; ++offset) ++landed[{range.source, offset}];
      }
    }
    for (const auto& [source, next] : admission.next.sources) {
      std::int64_t offset = next;
      while (landed.contains({source, offset - 1})) --offset;
      const auto position = positions.sources.find(source);
      if (position == positions.sources.end()) continue;
      ASSERT_EQ(offset, position->second) << source;
    }
    for (const auto& [offset, times] : landed) ASSERT_EQ(times, 1) << offset.first;
  }
}

}  // namespace
}  // namespace firn::wal
