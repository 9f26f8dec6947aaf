#include "firn/commit/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

using testing::HasSubstr;
using Texts = std::map<std::string, std::string>;

const std::string kCommit = fmt::format("firn.commit.{}", TestWal());
const std::string kWal = fmt::format("firn.wal.{}", TestWal());

iceberg::TableMetadata TableWith(Texts properties) {
  iceberg::TableMetadata metadata;
  metadata.table_uuid = TableUuid("5fd7ab3f-0b4c-4a5e-9a5b-0c5d2a1f7e11");
  metadata.properties = std::move(properties);
  return metadata;
}

/// Well-formed properties of the table above.
Texts SomeTexts() {
  return {{"firn.table-uuid", "5fd7ab3f-0b4c-4a5e-9a5b-0c5d2a1f7e11"},
          {"firn.snapshot", "4711"},
          {"firn.sequence", "9"},
          {kCommit, TestBatchId(3).value()},
          {kWal, fmt::format("{}:7,{}:18446744073709551615", TestShard(1), TestShard(2))},
          {"firn.source.main.orders.v2", "0:123,1:456,10:0"},
          {"firn.load.nightly", "0:336776"}};
}

TablePositions SomePositions() {
  TablePositions positions;
  positions.last_batch = TestBatchId(3);
  positions.snapshot = SnapshotId(4711);
  positions.sequence = SnapshotSequence(9);
  positions.reached.shards = {{TestShard(1), SegmentSequence(7)},
                              {TestShard(2), SegmentSequence(18446744073709551615U)}};
  positions.reached.sources = {{"kafka:main:orders.v2:0", 123},
                               {"kafka:main:orders.v2:1", 456},
                               {"kafka:main:orders.v2:10", 0},
                               {"load:nightly:0", 336776}};
  return positions;
}

std::string RefusalOf(const std::string& property, const std::string& text) {
  Texts texts = SomeTexts();
  texts[property] = text;
  const auto positions = ReadPositions(TableWith(texts), TestWal());
  EXPECT_TRUE(IsError(positions.status(), ErrorKind::kCorruption)) << text;
  return ErrorText(positions.status());
}

iceberg::Snapshot SnapshotWith(std::int64_t id, Texts summary) {
  iceberg::Snapshot snapshot;
  snapshot.snapshot_id = SnapshotId(id);
  snapshot.summary = std::move(summary);
  return snapshot;
}

TEST(PositionsTest, ReadsWhatTheFormatSays) {
  EXPECT_EQ(ReadPositions(TableWith(SomeTexts()), TestWal()), SomePositions());
}

TEST(PositionsTest, WritesWhatItReads) {
  const auto changes = ChangeProperties(TableWith({}), TestWal(), SomePositions());
  ASSERT_TRUE(changes.ok());
  EXPECT_EQ(changes->updates, SomeTexts());
  EXPECT_TRUE(changes->removals.empty());
}

TEST(PositionsTest, ATableWithoutPropertiesStandsAtTheStart) {
  EXPECT_EQ(ReadPositions(TableWith({}), TestWal()), TablePositions());
}

TEST(PositionsTest, AnotherWalSharesSnapshotAndSources) {
  TablePositions expected = SomePositions();
  expected.last_batch.reset();
  expected.reached.shards.clear();
  EXPECT_EQ(ReadPositions(TableWith(SomeTexts()), TestWal(2)), expected);
}

TEST(PositionsTest, PropertiesOfAnotherTableCountAsAbsentAndAreReplaced) {
  Texts texts = SomeTexts();
  texts["firn.table-uuid"] = "00000000-0000-4000-8000-000000000000";
  texts["owner"] = "me";
  const iceberg::TableMetadata metadata = TableWith(texts);
  EXPECT_EQ(ReadPositions(metadata, TestWal(2)), TablePositions());

  TablePositions next;
  next.last_batch = TestBatchId(1);
  next.snapshot = SnapshotId(1);
  next.sequence = SnapshotSequence(1);
  const auto changes = ChangeProperties(metadata, TestWal(2), next);
  ASSERT_TRUE(changes.ok());
  EXPECT_EQ(changes->updates.at("firn.table-uuid"), metadata.table_uuid.value());
  EXPECT_THAT(changes->removals,
              testing::ElementsAre(kCommit, "firn.load.nightly",
                                   "firn.source.main.orders.v2", kWal));
}

TEST(PositionsTest, RemovesWhatIsRetiredAndLeavesOtherWalsAlone) {
  Texts texts = SomeTexts();
  texts[fmt::format("firn.wal.{}", TestWal(2))] = "other:1";
  TablePositions next = SomePositions();
  next.reached = {};
  const auto changes = ChangeProperties(TableWith(texts), TestWal(), next);
  ASSERT_TRUE(changes.ok());
  EXPECT_THAT(
      changes->removals,
      testing::ElementsAre("firn.load.nightly", "firn.source.main.orders.v2", kWal));
}

TEST(PositionsTest, RefusesMalformedPropertiesByName) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> malformed = {
      {"firn.snapshot", {"", "x", "-1", "+1", "01", "1 ", "9223372036854775808"}},
      {"firn.sequence", {"", "1.0"}},
      {kCommit, {"", "7", "01jc0000000000000000000001"}},
      {kWal,
       {"", "a", "a:", ":1", "a:0", "a:01", "a:1,", ",a:1", "a:1,a:2", "b:1,a:2", "a:-1",
        "a b:1", "a:18446744073709551616"}},
      {"firn.source.main.orders.v2",
       {"", "0", "0:", ":1", "x:1", "00:1", "0:1,0:2", "1:1,0:2", "0:-1", "0:1;1:2",
        "0:9223372036854775808"}},
      {"firn.source.orders", {"0:1"}},
      {"firn.source..orders", {"0:1"}},
      {"firn.load.", {"0:1"}},
      {"firn.load.a:b", {"0:1"}}};
  for (const auto& [property, texts] : malformed) {
    for (const std::string& text : texts) {
      EXPECT_THAT(RefusalOf(property, text), HasSubstr(property)) << text;
    }
  }
}

TEST(PositionsTest, RefusesPositionsWithoutTheirSnapshot) {
  for (const std::string property : {"firn.snapshot", "firn.sequence"}) {
    Texts texts = SomeTexts();
    texts.erase(property);
    const auto positions = ReadPositions(TableWith(texts), TestWal());
    EXPECT_THAT(ErrorText(positions.status()), HasSubstr(property + " is missing"));
  }
}

TEST(PositionsTest, RefusesATableWhosePropertiesOfOneWalWereDropped) {
  Texts texts = SomeTexts();
  texts.erase(kCommit);
  iceberg::TableMetadata metadata = TableWith(texts);
  metadata.snapshots = {SnapshotWith(5, {{kCommit, TestBatchId(1).value()}})};
  metadata.current_snapshot_id = SnapshotId(5);
  const auto positions = ReadPositions(metadata, TestWal());
  EXPECT_TRUE(IsError(positions.status(), ErrorKind::kCorruption));
  EXPECT_THAT(
      ErrorText(positions.status()),
      testing::AllOf(HasSubstr(kCommit + " is missing"), HasSubstr("snapshot 5")));
  EXPECT_TRUE(ReadPositions(metadata, TestWal(2)).ok()) << "which never committed";
}

TEST(PositionsTest, UnderstandsSourceIds) {
  const auto entry = [](std::string_view source) {
    const SourceEntry parsed = ParseSourceId(source).ValueOr({});
    return fmt::format("{} {}", parsed.property, parsed.entry);
  };
  EXPECT_EQ(entry("kafka:main:a.b_c-d:12"), "firn.source.main.a.b_c-d 12");
  EXPECT_EQ(entry("load:2024-01.x:0"), "firn.load.2024-01.x 0");
  for (const std::string source :
       {"", "load", "load:x", "load:x:", "load:x:-1", "load:x:01", "load::1",
        "load:a/b:1", "load:a:b:1", "kafka:a.b:topic:1", "kafka:a:topic", "kafka:a::1",
        "http:a:1"}) {
    EXPECT_THAT(ErrorText(ParseSourceId(source).status()), HasSubstr("'" + source + "'"));
  }
}

TEST(PositionsTest, SummaryRepeatsIdsAndRanges) {
  Batch merged = TestBatch(2, 3, 9);
  merged.sources = {{"kafka:main:orders:2", {.first = 5, .next = 6}},
                    {"kafka:main:orders:10", {.first = 7, .next = 9}}};
  const Texts expected = {{kCommit, fmt::format("{},{}", TestBatchId(1), TestBatchId(2))},
                          {kWal, fmt::format("{}:3-9", TestShard())},
                          {"firn.source.main.orders", "2:5-6,10:7-9"}};
  EXPECT_EQ(SummaryEntries(TestWal(), {TestBatchId(1), TestBatchId(2)}, merged),
            expected);
}

TEST(PositionsTest, FindsABatchInMainsHistoryOnly) {
  iceberg::TableMetadata metadata = TableWith({});
  const std::string ids = fmt::format("{},{}", TestBatchId(1), TestBatchId(2));
  metadata.snapshots = {SnapshotWith(5, {{kCommit, ids}}), SnapshotWith(6, {}),
                        SnapshotWith(7, {{kCommit, TestBatchId(3).value()}})};
  metadata.snapshots.Change(
      1, [](auto& snapshot) { snapshot.parent_snapshot_id = SnapshotId(5); });
  metadata.current_snapshot_id = SnapshotId(6);

  const auto found = [&](const WalId& wal, int batch) {
    const auto* snapshot = FindBatchSnapshot(metadata, wal, TestBatchId(batch));
    return snapshot == nullptr ? 0 : snapshot->snapshot_id.value();
  };
  EXPECT_EQ(found(TestWal(), 1), 5);
  EXPECT_EQ(found(TestWal(), 2), 5);
  EXPECT_EQ(found(TestWal(), 3), 0);
  EXPECT_EQ(found(TestWal(2), 1), 0);
}

TEST(CommittedRangesTest, AreThoseOfTheSnapshotsThatAreListed) {
  TestTable table;
  ASSERT_EQ(table.Commit({TestBatch(1, 0, 2)}), "committed");
  ASSERT_EQ(table.Commit({TestBatch(2, 2, 5)}), "committed");
  iceberg::TableMetadata metadata = table.Load();
  auto ranges = CommittedRanges(metadata, TestWal()).ValueOrDie();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[1].shard, TestShard());
  EXPECT_EQ(ranges[1].after, SegmentSequence(2));
  EXPECT_EQ(ranges[1].through, SegmentSequence(5));
  EXPECT_EQ(ranges[1].committed,
            WallTime(std::chrono::milliseconds(metadata.snapshots[1].timestamp_ms)));
  EXPECT_TRUE(CommittedRanges(metadata, TestWal(2)).ValueOrDie().empty());
  metadata.snapshots.Erase(0);
  EXPECT_EQ(CommittedRanges(metadata, TestWal()).ValueOrDie().size(), 1U);
}

TEST(CommittedRangesTest, AMalformedSummaryIsCorruption) {
  TestTable table;
  ASSERT_EQ(table.Commit({TestBatch(1, 0, 2)}), "committed");
  iceberg::TableMetadata metadata = table.Load();
  for (const char* text : {"", "n", "n:1", "n:1-", "n:-2", "n:1-2,", "n:01-2"}) {
    metadata.snapshots.Change(0, [&](auto& snapshot) {
      snapshot.summary[fmt::format("firn.wal.{}", TestWal())] = text;
    });
    EXPECT_TRUE(
        IsError(CommittedRanges(metadata, TestWal()).status(), ErrorKind::kCorruption))
        << text;
  }
}

}  // namespace
}  // namespace firn::commit
