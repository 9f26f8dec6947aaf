#include "firn/wal/segment_format.h"

#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/base64.h"
#include "firn/core/test_seed.h"
#include "firn/wal/byte_codec.h"

namespace firn::wal {
namespace {

using testing::HasSubstr;

SegmentRun FirstRun() {
  return {
      .first_row = 0,
      .rows = 70,
      .bytes = 700,
      .partition = {std::monostate(), true, std::int32_t{-5},
                    std::numeric_limits<std::int64_t>::min(), 1.5F, -0.0,
                    types::DecimalValue{-(__int128{1} << 100)}, std::string("a\0b", 3)},
      .first_key = "a",
      .last_key = "q",
      .samples = {{"c", 0.25}, {"d", 0.25}, {"q", 1}},
  };
}

SegmentRun SecondRun() {
  SegmentRun run = FirstRun();
  run.first_row = 70;
  run.rows = 30;
  run.bytes = 1;
  run.partition[2] = std::int32_t{6};
  run.last_key = std::nullopt;
  return run;
}

SegmentRun LonelyRun() {
  SegmentRun run = FirstRun();
  run.bytes = 0;
  run.metrics[2] = {.value_count = 70, .null_count = 70};
  run.metrics[7] = {.value_count = 70,
                    .null_count = 3,
                    .nan_count = 67,
                    .lower_bound = "",
                    .upper_bound = "zz"};
  return run;
}

SegmentFooter Footer() {
  return {
      .table_uuid = TableUuid("0b6f9c1e-0000-4000-8000-000000000001"),
      .schema_id = SchemaId(3),
      .spec_id = PartitionSpecId(0),
      .order_id = SortOrderId(1),
      .key_types = "string asc nulls-first",
      .ranges = {{"load:x:0", -1, 100}, {"", 5, 5}},
      .row_groups = {{FirstRun(), SecondRun()}, {LonelyRun()}},
  };
}

/// The row groups of Footer(), described by `key_values`.
std::vector<RowGroupFooter> RowGroups(
    const std::map<std::string, std::string>& key_values) {
  std::vector<RowGroupFooter> row_groups;
  for (const auto& runs : Footer().row_groups) {
    const auto payload = key_values.find(fmt::format("firn.rg.{}", row_groups.size()));
    RowGroupFooter& row_group = row_groups.emplace_back();
    if (payload != key_values.end()) row_group.runs_payload = payload->second;
    for (const SegmentRun& run : runs) {
      row_group.rows += run.rows;
      row_group.bytes += run.bytes;
    }
  }
  return row_groups;
}

std::map<std::string, std::string> AsMap(const KeyValues& key_values) {
  return {key_values.begin(), key_values.end()};
}

Result<SegmentFooter> Decode(const std::map<std::string, std::string>& key_values) {
  return DecodeSegmentFooter("t/s/7", RowGroups(key_values), key_values);
}

/// What is said of a footer whose first run was changed.
template <typename Change>
std::string ProblemOf(const Change& change) {
  SegmentFooter footer = Footer();
  change(footer);
  const Status status = Decode(AsMap(EncodeSegmentFooter(footer))).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
  return status.message();
}

TEST(SegmentFormatTest, RoundTrips) {
  EXPECT_EQ(Decode(AsMap(EncodeSegmentFooter(Footer()))).ValueOrDie(), Footer());
}

TEST(SegmentFormatTest, IgnoresKeysOfOthers) {
  auto key_values = AsMap(EncodeSegmentFooter(Footer()));
  key_values["ARROW:schema"] = "whatever";
  EXPECT_TRUE(Decode(key_values).ok());
}

TEST(SegmentFormatTest, RefusesANewerFormat) {
  auto key_values = AsMap(EncodeSegmentFooter(Footer()));
  key_values["firn.format-version"] = "2";
  const Status status = Decode(key_values).status();
  EXPECT_FALSE(IsError(status, ErrorKind::kCorruption));
  EXPECT_THAT(status.message(), HasSubstr("segment t/s/7 was written by a newer Firn"));
}

TEST(SegmentFormatTest, EveryKeyIsNeeded) {
  for (const auto& [key, value] : EncodeSegmentFooter(Footer())) {
    auto key_values = AsMap(EncodeSegmentFooter(Footer()));
    key_values.erase(key);
    const Status status = Decode(key_values).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << key;
    EXPECT_THAT(status.message(), HasSubstr("segment t/s/7")) << key;
  }
}

TEST(SegmentFormatTest, NumbersHaveOneText) {
  for (const char* text : {"", "-", "01", "+1", " 1", "1 ", "0x1", "2147483648"}) {
    auto key_values = AsMap(EncodeSegmentFooter(Footer()));
    key_values["firn.schema-id"] = text;
    EXPECT_THAT(Decode(key_values).status().message(),
                HasSubstr("firn.schema-id: it is not a number"))
        << text;
  }
}

TEST(SegmentFormatTest, NamesSegmentRowGroupAndContradiction) {
  const auto first = [](SegmentFooter& footer) -> SegmentRun& {
    return footer.row_groups[0][0];
  };
  struct Case {
    std::string problem;
    std::function<void(SegmentFooter&)> change;
  };
  const std::vector<Case> cases = {
      {"its runs have 71 rows",
       [&](auto& f) {
         f.row_groups[0][0].rows = 71;
         f.row_groups[0][1].first_row = 71;
         f.row_groups[0].pop_back();
         f.row_groups[0][0].bytes = 701;
       }},
      {"its runs have more rows", [&](auto& f) { first(f).rows = 101; }},
      {"does not start where", [&](auto& f) { first(f).first_row = 1; }},
      {"a run has no rows", [&](auto& f) { first(f).rows = 0; }},
      {"its runs have more bytes", [&](auto& f) { first(f).bytes = 702; }},
      {"its runs have 700 bytes, the row group 701", [&](auto& f) { first(f).bytes--; }},
      {"a count is negative", [&](auto& f) { first(f).bytes = -1; }},
      {"the last key of a run is below", [&](auto& f) { first(f).last_key = "Z"; }},
      {"samples of a run are not sorted",
       [&](auto& f) { first(f).samples[0].key = "x"; }},
      {"samples of a run are not sorted",
       [&](auto& f) { first(f).samples[2].key = "r"; }},
      {"samples of a run are not sorted",
       [&](auto& f) { first(f).samples[1].fraction = 0.2; }},
      {"between 0 and 1", [&](auto& f) { first(f).samples[2].fraction = 1.5; }},
      {"between 0 and 1", [&](auto& f) { first(f).samples[0].fraction = NAN; }},
      {"too many samples", [&](auto& f) { first(f).samples.resize(16); }},
      {"a key is too long", [&](auto& f) { first(f).first_key.resize(257); }},
      {"shares its row group has metrics", [&](auto& f) { first(f).metrics[1] = {}; }},
  };
  for (const Case& test : cases) {
    const std::string problem = ProblemOf(test.change);
    EXPECT_THAT(problem, HasSubstr("segment t/s/7 row group 0: "));
    EXPECT_THAT(problem, HasSubstr(test.problem));
  }
}

TEST(SegmentFormatTest, NamesOtherContradictions) {
  EXPECT_THAT(ProblemOf([](auto& f) { f.row_groups.pop_back(); }),
              HasSubstr("it describes 1 row groups, but has 2"));
  EXPECT_THAT(ProblemOf([](auto& f) { f.row_groups[1][0].partition.pop_back(); }),
              HasSubstr("row group 1: a run has 7 partition values, others 8"));
  EXPECT_THAT(ProblemOf([](auto& f) { f.row_groups[1][0].metrics[7].null_count = 4; }),
              HasSubstr("more nulls and NaNs than values"));
  EXPECT_THAT(ProblemOf([](auto& f) { f.ranges[0].next = -2; }),
              HasSubstr("firn.source-ranges: a range ends before it starts"));
  EXPECT_THAT(ProblemOf([](auto& f) { f.ranges[1].source = f.ranges[0].source; }),
              HasSubstr("a source stands there twice"));
}

TEST(ByteCodecTest, RefusesWhatIsNotTheShortestForm) {
  for (const std::string& bytes :
       {std::string("\x80", 1), std::string("\x80\0", 2),
        std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), std::string()}) {
    ByteReader in(bytes);
    in.Varint();
    EXPECT_TRUE(in.failed()) << bytes.size();
  }
}

TEST(ByteCodecTest, RoundTripsTheExtremes) {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{64},
                                   std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()}) {
    ByteWriter out;
    out.Signed(value);
    ByteReader in(out.bytes());
    EXPECT_EQ(in.Signed(), value);
    EXPECT_TRUE(in.at_end() && !in.failed());
  }
}

void Mutate(std::mt19937_64& random, std::string& bytes) {
  const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
  switch (random() % 4) {
    case 0:
      bytes.insert(at, 1, static_cast<char>(random()));
      return;
    case 1:
      if (!bytes.empty()) bytes.erase(at, 1 + random() % 3);
      return;
    default:
      if (!bytes.empty()) bytes[at] = static_cast<char>(random());
  }
}

/// Damaged bytes are refused as such, or mean exactly what they say.
TEST(SegmentFormatTest, DamagedFootersAreRefusedOrReadExactly) {
  std::mt19937_64 random(TestSeed());
  const KeyValues whole = EncodeSegmentFooter(Footer());
  int refused = 0;
  for (int i = 0; i < 50'000; ++i) {
    KeyValues damaged = whole;
    std::string& value = damaged[7 + random() % 2].second;
    std::string bytes = DecodeBase64(value).ValueOrDie();
    for (std::uint64_t n = random() % 3; n < 3; ++n) Mutate(random, bytes);
    value = EncodeBase64(bytes);
    const auto decoded = Decode(AsMap(damaged));
    if (decoded.ok()) {
      ASSERT_EQ(EncodeSegmentFooter(*decoded), damaged);
      continue;
    }
    ++refused;
    ASSERT_TRUE(IsError(decoded.status(), ErrorKind::kCorruption)) << decoded.status();
  }
  EXPECT_GT(refused, 25'000);
}

TEST(SegmentFormatTest, RandomBytesAreRefused) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    auto key_values = AsMap(EncodeSegmentFooter(Footer()));
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    key_values["firn.rg.0"] = i % 2 == 0 ? bytes : EncodeBase64(bytes);
    ASSERT_TRUE(IsError(Decode(key_values).status(), ErrorKind::kCorruption));
  }
}

}  // namespace
}  // namespace firn::wal
