#include "firn/wal/segment_builder.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <tuple>

#include <arrow/io/memory.h>
#include <arrow/table.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "firn/core/test_seed.h"
#include "firn/order/key_bound.h"
#include "firn/order/key_encoder.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/wal/key_samples.h"
#include "firn/wal/row_bytes.h"
#include "firn/wal/segment_format.h"
#include "firn/wal/segment_rows_fixture.h"
#include "firn/wal/wal_reader.h"

namespace firn::wal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A row as it stands in the file.
struct StoredRow {
  TestRow row;
  std::optional<std::int32_t> source;
  std::optional<std::int64_t> offset;

  bool operator==(const StoredRow&) const = default;
};

parquet_io::Footer FooterOf(const FrozenSegment& segment) {
  return parquet::ReadMetaData(std::make_shared<arrow::io::BufferReader>(segment.bytes));
}

types::Schema SchemaWithHiddenColumns() {
  types::Schema schema = TestSchema();
  schema.fields.push_back(
      {.id = kSourceFieldId, .name = "s", .type = types::Type(types::TypeKind::kInt)});
  schema.fields.push_back(
      {.id = kOffsetFieldId, .name = "o", .type = types::Type(types::TypeKind::kLong)});
  return schema;
}

void AppendRows(const arrow::RecordBatch& batch, std::vector<StoredRow>& rows) {
  const auto schema = SchemaWithHiddenColumns();
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    const auto value = [&](int column) {
      return types::ValueAt(*batch.column(column),
                            schema.fields[static_cast<std::size_t>(column)].type, row);
    };
    StoredRow& stored = rows.emplace_back();
    if (!types::IsNull(value(0))) stored.row.tenant = std::get<std::string>(value(0));
    stored.row.name = std::get<std::string>(value(1));
    stored.row.number = std::get<std::int64_t>(value(2));
    if (!types::IsNull(value(3))) stored.source = std::get<std::int32_t>(value(3));
    if (!types::IsNull(value(4))) stored.offset = std::get<std::int64_t>(value(4));
  }
}

std::vector<StoredRow> ReadBack(const FrozenSegment& segment, int row_group) {
  const auto file = std::make_shared<arrow::io::BufferReader>(segment.bytes);
  const auto footer = FooterOf(segment);
  const auto reader =
      parquet_io::ReadRowGroup(
          {.file = file, .footer = footer, .row_group = row_group, .name = "segment"},
          SchemaWithHiddenColumns(), 0, footer->RowGroup(row_group)->num_rows(), 1024)
          .ValueOrDie();
  std::vector<StoredRow> rows;
  for (auto batch = reader->Next().ValueOrDie(); batch != nullptr;
       batch = reader->Next().ValueOrDie()) {
    AppendRows(*batch, rows);
  }
  return rows;
}

std::vector<StoredRow> ReadBack(const FrozenSegment& segment) {
  std::vector<StoredRow> rows;
  for (std::size_t i = 0; i < segment.footer.row_groups.size(); ++i) {
    const auto more = ReadBack(segment, static_cast<int>(i));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

FrozenSegment Build(const std::vector<SegmentRows>& rows,
                    const SegmentOptions& options = {},
                    TableLayout layout = TestLayout()) {
  SegmentBuilder builder = SegmentBuilder::Make(std::move(layout), options).ValueOrDie();
  return builder.Build(rows, {{"S", 0, 100}, {"T", 0, 100}}, "u/s/1").ValueOrDie();
}

/// "a:2 b:1 | c:5": the runs of each row group, by tenant and rows.
std::string Runs(const FrozenSegment& segment) {
  std::string text;
  for (const auto& row_group : segment.footer.row_groups) {
    if (!text.empty()) text += "| ";
    for (const SegmentRun& run : row_group) {
      const types::Value& tenant = run.partition.at(0);
      text += fmt::format("{}:{} ",
                          types::IsNull(tenant) ? "null" : std::get<std::string>(tenant),
                          run.rows);
    }
  }
  return text;
}

/// `count` rows of a tenant that take about `bytes` each, and do not compress.
std::vector<TestRow> Noise(const std::string& tenant, int count, std::size_t bytes,
                           std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<TestRow> rows;
  for (int i = 0; i < count; ++i) {
    TestRow& row = rows.emplace_back(TestRow{tenant, "", i});
    row.name.resize(bytes);
    for (char& c : row.name) c = static_cast<char>('!' + random() % 90);
  }
  return rows;
}

std::string KeyOf(const std::string& name) {
  const auto encoder =
      order::KeyEncoder::Make(TestLayout().order, TestSchema()).ValueOrDie();
  std::string key;
  encoder.Encode({name}, key);
  return key;
}

TEST(SegmentBuilderTest, SortsByTupleThenKeyAndKeepsTheOrderOfEqualKeys) {
  const FrozenSegment segment = Build({WithoutSource({{"b", "x", 1},
                                                      {"a", "z", 2},
                                                      {"b", "x", 3},
                                                      {std::nullopt, "q", 4},
                                                      {"a", "y", 5}}),
                                       WithoutSource({{"b", "a", 6}, {"b", "x", 0}})});
  std::vector<std::int64_t> numbers;
  for (const StoredRow& stored : ReadBack(segment)) numbers.push_back(stored.row.number);
  EXPECT_THAT(numbers, ElementsAre(4, 5, 2, 6, 1, 3, 0));
  EXPECT_EQ(Runs(segment), "null:1 a:2 b:4 ");
}

TEST(SegmentBuilderTest, EachRowKnowsWhereItCameFrom) {
  const FrozenSegment segment =
      Build({FromSource(1, 70, {{"a", "z", 1}, {"a", "y", 2}}),
             WithoutSource({{"a", "b", 3}}), FromSource(0, 5, {{"a", "yy", 4}})});
  EXPECT_THAT(
      ReadBack(segment),
      ElementsAre(StoredRow{{"a", "b", 3}, {}, {}}, StoredRow{{"a", "y", 2}, 1, 71},
                  StoredRow{{"a", "yy", 4}, 0, 5}, StoredRow{{"a", "z", 1}, 1, 70}));
}

TEST(SegmentBuilderTest, TheFileSaysWhatTheFooterSays) {
  const FrozenSegment segment = Build({WithoutSource(Noise("a", 100, 50))});
  EXPECT_EQ(DecodeFooter("s", FooterOf(segment)).ValueOrDie(), segment.footer);
  EXPECT_EQ(segment.footer.table_uuid, TestLayout().uuid);
  EXPECT_EQ(segment.footer.schema_id, SchemaId(2));
  EXPECT_EQ(segment.footer.order_id, SortOrderId(1));
  EXPECT_EQ(segment.footer.key_types, "string asc nulls first");
  EXPECT_EQ(segment.rows, 100);
}

TEST(SegmentBuilderTest, RangesAloneMakeASegmentToo) {
  const FrozenSegment segment = Build({});
  EXPECT_EQ(DecodeFooter("s", FooterOf(segment)).ValueOrDie(), segment.footer);
  EXPECT_EQ(segment.footer.ranges.size(), 2U);
  EXPECT_EQ(FooterOf(segment)->num_row_groups(), 0);
}

TEST(SegmentBuilderTest, SmallPartitionsShareRowGroupsUpToTheirSize) {
  std::vector<SegmentRows> rows;
  for (const char* tenant : {"a", "b", "c", "d", "e"}) {
    rows.push_back(WithoutSource(Noise(tenant, 10, 1000)));
  }
  // 10 KB each, and a row group is expected to hold 16 KB / 0.4 in memory.
  EXPECT_EQ(Runs(Build(rows, {.row_group_bytes = 16'000})),
            "a:10 b:10 c:10 | d:10 e:10 ");
}

TEST(SegmentBuilderTest, ThousandsOfTinyPartitionsShareOneRowGroup) {
  std::vector<TestRow> rows;
  for (int i = 0; i < 10'000; ++i) rows.push_back({fmt::format("t{}", i % 5000), "x", i});
  const FrozenSegment segment = Build({WithoutSource(rows)});
  ASSERT_EQ(segment.footer.row_groups.size(), 1U);
  EXPECT_EQ(segment.footer.row_groups[0].size(), 5000U);
  EXPECT_EQ(DecodeFooter("s", FooterOf(segment)).ValueOrDie(), segment.footer);
}

TEST(SegmentBuilderTest, LargePartitionsHaveRowGroupsOfTheirOwn) {
  const FrozenSegment segment =
      Build({WithoutSource(Noise("a", 10, 100)), WithoutSource(Noise("b", 1000, 1000)),
             WithoutSource(Noise("c", 10, 100)), WithoutSource(Noise("d", 10, 100))},
            {.row_group_bytes = 200'000});
  const auto& row_groups = segment.footer.row_groups;
  ASSERT_GT(row_groups.size(), 5U);
  EXPECT_THAT(Runs(segment), testing::StartsWith("a:10 | b:"));
  EXPECT_THAT(Runs(segment), testing::EndsWith("| c:10 d:10 "));
  for (std::size_t i = 1; i + 2 < row_groups.size(); ++i) {
    // The first is cut by a guess, the others by what was learned.
    const double target = i == 1 ? 400'000 : 200'000;
    EXPECT_NEAR(static_cast<double>(row_groups[i][0].bytes), target, target / 10);
  }
}

TEST(SegmentBuilderTest, RemembersHowWellTheLastSegmentWasCompressed) {
  SegmentBuilder builder =
      SegmentBuilder::Make(TestLayout(), {.row_group_bytes = 200'000}).ValueOrDie();
  const std::vector<SegmentRows> rows = {WithoutSource(Noise("a", 1000, 1000))};
  ASSERT_TRUE(builder.Build(rows, {}, "u/s/1").ok());
  const FrozenSegment second = builder.Build(rows, {}, "u/s/2").ValueOrDie();
  EXPECT_NEAR(static_cast<double>(second.footer.row_groups[0][0].bytes), 200'000, 20'000);
}

TEST(SegmentBuilderTest, LearnsAlsoFromRowsThatAlmostVanish) {
  SegmentBuilder builder =
      SegmentBuilder::Make(TestLayout(), {.row_group_bytes = 200'000}).ValueOrDie();
  const std::vector<TestRow> same(2000, {"a", std::string(1000, 'x')});
  const FrozenSegment first =
      builder.Build({WithoutSource(same)}, {}, "u/s/1").ValueOrDie();
  EXPECT_GT(first.footer.row_groups.size(), 1U) << "cut by a guess";
  const FrozenSegment second =
      builder.Build({WithoutSource(same)}, {}, "u/s/2").ValueOrDie();
  EXPECT_EQ(second.footer.row_groups.size(), 1U);
}

TEST(SegmentBuilderTest, ATinySegmentTeachesNothing) {
  const auto row_groups = [](SegmentBuilder& builder) {
    return builder.Build({WithoutSource(Noise("a", 1000, 1000))}, {}, "u/s/2")
        .ValueOrDie()
        .footer.row_groups.size();
  };
  const SegmentOptions options = {.row_group_bytes = 200'000};
  SegmentBuilder fresh = SegmentBuilder::Make(TestLayout(), options).ValueOrDie();
  SegmentBuilder builder = SegmentBuilder::Make(TestLayout(), options).ValueOrDie();
  // Its headers are larger than its rows.
  ASSERT_TRUE(builder.Build({WithoutSource(Noise("a", 1, 10))}, {}, "u/s/1").ok());
  EXPECT_EQ(row_groups(builder), row_groups(fresh));
}

TEST(SegmentBuilderTest, OneRowLargerThanARowGroupHasItsOwn) {
  EXPECT_EQ(Runs(Build({WithoutSource(Noise("a", 3, 5000))}, {.row_group_bytes = 100})),
            "a:1 | a:1 | a:1 ");
}

TEST(SegmentBuilderTest, KeysAreTruncatedTruly) {
  const std::string low(400, 'a');
  const std::string high(400, 'z');
  const FrozenSegment segment =
      Build({WithoutSource({{"a", low, 0}, {"a", high, 1}, {"b", "short", 2}})});
  const auto& runs = segment.footer.row_groups[0];
  EXPECT_EQ(runs[0].first_key, KeyOf(low).substr(0, order::kKeyBytesMax));
  EXPECT_EQ(runs[0].last_key, order::TruncateKeyUp(KeyOf(high)));
  EXPECT_GT(*runs[0].last_key, KeyOf(high));
  EXPECT_EQ(runs[1].first_key, KeyOf("short"));
  EXPECT_EQ(runs[1].last_key, KeyOf("short"));
}

TEST(SegmentBuilderTest, OnlyARunThatFillsItsRowGroupHasMetrics) {
  const FrozenSegment alone = Build({WithoutSource({{"a", "x", 7}, {"a", "y", 3}})});
  const auto& metrics = alone.footer.row_groups[0][0].metrics;
  EXPECT_EQ(metrics.at(1).lower_bound, "a");
  EXPECT_EQ(metrics.at(3).value_count, 2);
  EXPECT_EQ(metrics.at(2).upper_bound, "y");
  EXPECT_EQ(metrics.size(), 3U);
  const FrozenSegment shared = Build({WithoutSource({{"a", "x", 7}, {"b", "y", 3}})});
  EXPECT_TRUE(shared.footer.row_groups[0][0].metrics.empty());
  EXPECT_EQ(DecodeFooter("s", FooterOf(shared)).ValueOrDie(), shared.footer);
}

TEST(SegmentBuilderTest, WithoutASortOrderRowsKeepTheirOrderAndHaveNoKeys) {
  const FrozenSegment segment =
      Build({WithoutSource({{"b", "x", 1}, {"a", "z", 2}, {"b", "a", 3}})}, {},
            TestLayout("tenant", ""));
  std::vector<std::int64_t> numbers;
  for (const StoredRow& stored : ReadBack(segment)) numbers.push_back(stored.row.number);
  EXPECT_THAT(numbers, ElementsAre(2, 1, 3));
  const SegmentRun& run = segment.footer.row_groups[0][1];
  EXPECT_EQ(run.first_key, "");
  EXPECT_EQ(run.last_key, "");
  EXPECT_TRUE(run.samples.empty());
  EXPECT_EQ(segment.footer.key_types, "");
}

TEST(SegmentBuilderTest, WithoutPartitionsThereIsOneRunPerRowGroup) {
  const FrozenSegment segment =
      Build({WithoutSource({{"b", "x", 1}, {"a", "z", 2}})}, {}, TestLayout("", "name"));
  ASSERT_EQ(segment.footer.row_groups.size(), 1U);
  ASSERT_EQ(segment.footer.row_groups[0].size(), 1U);
  EXPECT_TRUE(segment.footer.row_groups[0][0].partition.empty());
}

TEST(SegmentBuilderTest, TransformsOfPartitionsAreTheTuple) {
  const FrozenSegment segment =
      Build({WithoutSource({{"abc", "x", 17}, {"abd", "y", 5}})}, {},
            TestLayout("truncate(10, number)", "name"));
  const auto& runs = segment.footer.row_groups[0];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].partition, types::PartitionTuple{std::int64_t{0}});
  EXPECT_EQ(runs[1].partition, types::PartitionTuple{std::int64_t{10}});
}

TEST(SegmentBuilderTest, HiddenColumnsNeverHaveTheNameOfAColumn) {
  TableLayout layout = TestLayout();
  layout.schema.fields[2].name = "offset";
  const FrozenSegment segment = Build({WithoutSource({{"a", "x", 1}})}, {}, layout);
  std::vector<std::string> names;
  const auto footer = FooterOf(segment);
  for (int i = 0; i < footer->num_columns(); ++i) {
    names.push_back(footer->schema()->Column(i)->name());
  }
  EXPECT_THAT(names, ElementsAre("tenant", "name", "offset", "source", "_offset"));
}

TEST(SegmentBuilderTest, RefusesRowsOfAnotherShape) {
  SegmentBuilder builder = SegmentBuilder::Make(TestLayout(), {}).ValueOrDie();
  const auto rows = ToBatch({{"a", "x", 1}});
  const auto problem = [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
    return builder.Build({{.rows = batch}}, {}, "s").status().message();
  };
  EXPECT_THAT(problem(rows->RemoveColumn(0).ValueOrDie()), HasSubstr("2 columns"));
  EXPECT_THAT(problem(rows->SelectColumns({0, 1, 1}).ValueOrDie()),
              HasSubstr("column 'number' is string in the rows"));
  const auto nulls = ToBatch({{std::nullopt, "x", 1}});
  EXPECT_THAT(problem(nulls->SelectColumns({0, 0, 2}).ValueOrDie()),
              HasSubstr("column 'name' is required"));
  const Status status = builder.Build({{.rows = rows, .source = 0}}, {}, "s").status();
  EXPECT_THAT(status.message(), HasSubstr("1 rows of a source need as many offsets"));
}

TEST(SegmentBuilderTest, RefusesALayoutThatDoesNotFit) {
  TableLayout layout = TestLayout();
  layout.schema.fields.erase(layout.schema.fields.begin());
  EXPECT_FALSE(SegmentBuilder::Make(layout, {}).ok());
  EXPECT_FALSE(SegmentBuilder::Make(TestLayout(), {.row_group_bytes = 0}).ok());
}

// ---- Samples

/// Below this many rows of equal size, samples are easy to foretell.
FrozenSegment HundredKeys(std::string_view name, std::int64_t row_group_bytes = 1000) {
  std::vector<TestRow> rows;
  for (int i = 0; i < 100; ++i) rows.push_back({"a", fmt::format("k{:03}", i), i});
  SegmentBuilder builder =
      SegmentBuilder::Make(TestLayout(), {.row_group_bytes = row_group_bytes})
          .ValueOrDie();
  return builder.Build({WithoutSource(rows)}, {}, name).ValueOrDie();
}

TEST(KeySamplesTest, AreEvenlySpacedAndTellTheShareBelow) {
  const FrozenSegment segment = HundredKeys("u/s/1", 1000);
  const SegmentRun& run = segment.footer.row_groups[0][0];
  ASSERT_GE(run.samples.size(), kKeySamplesMax - 1);
  for (const KeySample& sample : run.samples) {
    const int index = static_cast<int>(std::lround(sample.fraction * run.rows));
    EXPECT_EQ(sample.key, KeyOf(fmt::format("k{:03}", index)));
  }
}

TEST(KeySamplesTest, DifferBetweenSegments) {
  EXPECT_NE(HundredKeys("u/s/1").footer.row_groups[0][0].samples,
            HundredKeys("u/s/2").footer.row_groups[0][0].samples);
  EXPECT_EQ(HundredKeys("u/s/1").footer, HundredKeys("u/s/1").footer);
}

TEST(KeySamplesTest, ShiftsAreSpreadEvenly) {
  std::vector<int> tenths(10);
  for (int i = 0; i < 1000; ++i) {
    ++tenths[static_cast<std::size_t>(SampleShift(fmt::format("u/n-1/{:020}", i), 0) *
                                      10)];
  }
  EXPECT_THAT(tenths, testing::Each(testing::AllOf(testing::Gt(60), testing::Lt(140))));
}

TEST(KeySamplesTest, ASmallRunHasFew) {
  EXPECT_LE(HundredKeys("u/s/1", 8 << 20).footer.row_groups[0][0].samples.size(), 1U);
}

TEST(KeySamplesTest, OneKeyHasNone) {
  const std::vector<TestRow> rows(1000, {"a", "same", 1});
  const FrozenSegment segment = Build({WithoutSource(rows)}, {.row_group_bytes = 1000});
  for (const auto& row_group : segment.footer.row_groups) {
    EXPECT_TRUE(row_group[0].samples.empty());
  }
}

TEST(RowBytesTest, CountsValuesOfEveryShape) {
  const auto rows = ToBatch({{"ab", "xyz", 1}, {std::nullopt, "", 2}});
  EXPECT_THAT(CumulativeRowBytes(*rows), ElementsAre(0, 1 + 2 + 3 + 8, 14 + 1 + 8));
  EXPECT_THAT(CumulativeRowBytes(*rows->Slice(1)), ElementsAre(0, 9));
}

// ---- Properties

std::vector<TestRow> RandomRows(std::mt19937_64& random) {
  std::vector<TestRow> rows(random() % 400);
  const std::uint64_t tenants = 1 + random() % 20;
  for (TestRow& row : rows) {
    const std::uint64_t tenant = random() % tenants;
    if (tenant > 0) row.tenant = fmt::format("t{}", tenant);
    row.name = std::string(random() % 3 == 0 ? 300 : random() % 4,
                           static_cast<char>('a' + random() % 3));
    row.number = static_cast<std::int64_t>(random() % 1000);
  }
  return rows;
}

void ExpectTrueRuns(const FrozenSegment& segment) {
  for (std::size_t i = 0; i < segment.footer.row_groups.size(); ++i) {
    const std::vector<StoredRow> rows = ReadBack(segment, static_cast<int>(i));
    for (const SegmentRun& run : segment.footer.row_groups[i]) {
      for (std::int64_t row = run.first_row; row < run.first_row + run.rows; ++row) {
        const TestRow& stored = rows[static_cast<std::size_t>(row)].row;
        const types::Value tenant =
            stored.tenant ? types::Value(*stored.tenant) : types::Value();
        ASSERT_EQ(run.partition, types::PartitionTuple{tenant});
        const std::string key = KeyOf(stored.name);
        ASSERT_LE(run.first_key, key);
        ASSERT_TRUE(!run.last_key || *run.last_key >= key);
      }
    }
  }
}

TEST(SegmentBuilderTest, TheFileIsTheStableSortOfItsRows) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 100; ++round) {
    const std::vector<TestRow> rows = RandomRows(random);
    const std::size_t split = rows.empty() ? 0 : random() % rows.size();
    const FrozenSegment segment =
        Build({WithoutSource({rows.begin(), rows.begin() + static_cast<long>(split)}),
               WithoutSource({rows.begin() + static_cast<long>(split), rows.end()})},
              {.row_group_bytes = 500 + static_cast<std::int64_t>(random() % 20'000)});
    ASSERT_EQ(DecodeFooter("s", FooterOf(segment)).ValueOrDie(), segment.footer);
    std::vector<TestRow> expected = rows;
    std::ranges::stable_sort(expected, [](const TestRow& a, const TestRow& b) {
      return std::tie(a.tenant, a.name) < std::tie(b.tenant, b.name);
    });
    std::vector<TestRow> stored;
    for (const StoredRow& row : ReadBack(segment)) stored.push_back(row.row);
    ASSERT_EQ(stored, expected);
    ExpectTrueRuns(segment);
  }
}

// ---- Golden file

std::string GoldenPath(std::string_view name) {
  return fmt::format("{}/src/firn/wal/testdata/{}", FIRN_SOURCE_DIR, name);
}

std::string ReadGolden(std::string_view name) {
  std::ifstream in(GoldenPath(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteGolden(std::string_view name, std::string_view bytes) {
  std::ofstream(GoldenPath(name), std::ios::binary) << bytes;
}

/// Several row groups, shared and not, sources, nulls, long keys.
FrozenSegment GoldenSegment() {
  std::vector<TestRow> first = {
      {std::nullopt, "nobody", -1}, {"beta", std::string(300, 'b'), 2}, {"beta", "", 3}};
  std::vector<TestRow> second;
  for (int i = 0; i < 200; ++i) {
    second.push_back({"alpha", fmt::format("name {:03}", i * 37 % 200), i});
  }
  SegmentBuilder builder =
      SegmentBuilder::Make(TestLayout(), {.row_group_bytes = 2000}).ValueOrDie();
  return builder
      .Build({FromSource(0, 10, first), FromSource(1, 0, second)},
             {{"load:x:0", 10, 13}, {"load:x:1", 0, 250}, {"idle", -5, 7}},
             "u/node-1/00000000000000000001.parquet")
      .ValueOrDie();
}

/// The key-values as text, without the sizes that another Parquet library may change.
std::string FooterText(const SegmentFooter& footer) {
  std::string text;
  for (const auto& [key, value] : EncodeSegmentFooter(footer)) {
    text += fmt::format("{} = {}\n", key, value);
  }
  return text;
}

void ExpectGolden(const std::string& name) {
  FrozenSegment golden;
  golden.bytes = arrow::Buffer::FromString(ReadGolden(name + ".parquet"));
  golden.footer = DecodeFooter(name, FooterOf(golden)).ValueOrDie();
  EXPECT_EQ(FooterText(golden.footer), ReadGolden(name + ".txt"));
  EXPECT_EQ(ReadBack(golden), ReadBack(GoldenSegment()));
}

/// FIRN_UPDATE_GOLDEN=1 writes the files anew.
TEST(SegmentGoldenTest, WhatWasWrittenOnceCanBeRead) {
  if (std::getenv("FIRN_UPDATE_GOLDEN") != nullptr) {
    const FrozenSegment segment = GoldenSegment();
    WriteGolden("segment-v1.parquet", std::string_view(*segment.bytes));
    WriteGolden("segment-v1.txt", FooterText(segment.footer));
  }
  ExpectGolden("segment-v1");
}

/// As Firn wrote them before footers had a CRC: nothing writes this file anew.
TEST(SegmentGoldenTest, WhatWasWrittenWithoutASealCanBeRead) {
  ExpectGolden("segment-v1-unsealed");
}

}  // namespace
}  // namespace firn::wal
