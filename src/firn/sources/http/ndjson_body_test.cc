#include "firn/sources/http/ndjson_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "firn/types/column_list.h"

namespace firn::sources {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

types::Schema Schema() {
  return types::ParseColumnList("id long not null, name string, at timestamptz")
      .ValueOrDie();
}

Status ClaimNothing(std::int64_t) { return Status::OK(); }

Result<BodyRecords> Read(std::string_view body, const FileOptions& options = {},
                         const ClaimMemory& claim = ClaimNothing) {
  return ReadNdjsonBody(body, Schema(), options, "http 127.0.0.1:1", claim);
}

std::string Repeated(int times, std::string_view line) {
  std::string body;
  for (int i = 0; i < times; ++i) body.append(line).push_back('\n');
  return body;
}

/// "2 rows", and the position and reason of each letter.
std::vector<std::string> Describe(std::string_view body, FileOptions options = {}) {
  const auto records = Read(body, std::move(options));
  if (!records.ok()) return {ErrorText(records.status())};
  std::vector<std::string> text = {
      fmt::format("{} rows", records->rows == nullptr ? 0 : records->rows->num_rows())};
  for (const DeadLetter& letter : records->dead_letters) {
    text.push_back(letter.raw + ": " + letter.reason);
  }
  return text;
}

TEST(NdjsonBodyTest, EachLineIsARecord) {
  EXPECT_THAT(Describe("{\"id\":1}\n{\"id\":2,\"name\":\"b\"}"), ElementsAre("2 rows"));
  EXPECT_THAT(Describe("\xef\xbb\xbf\r\n {\"id\":1}\r\n\n"), ElementsAre("1 rows"));
  EXPECT_THAT(Describe(""), ElementsAre("0 rows"));
  EXPECT_THAT(Describe("\n \n"), ElementsAre("0 rows"));
}

TEST(NdjsonBodyTest, WhatDoesNotFitIsADeadLetterWithItsLine) {
  EXPECT_THAT(
      Describe("{\"id\":1}\n\n{\"id\":\"x\"}\nnonsense\n{\"id\":4}\n"),
      ElementsAre("2 rows", ::testing::StartsWith("{\"id\":\"x\"}: line 3: column 'id'"),
                  ::testing::StartsWith("nonsense: line 4: ")));
  const auto records = Read("{}").ValueOrDie();
  EXPECT_EQ(records.rows, nullptr);
  ASSERT_EQ(records.dead_letters.size(), 1U);
  EXPECT_EQ(records.dead_letters[0].source, "http 127.0.0.1:1");
  EXPECT_EQ(records.dead_letters[0].position, 1);
  EXPECT_THAT(*records.dead_letters[0].format, HasSubstr("ndjson"));
}

TEST(NdjsonBodyTest, ABodyOfManyBlocksIsOneBatch) {
  constexpr int kLines = 700'000;
  const std::string body =
      Repeated(kLines, R"({"id":1})") + "no\n" + Repeated(5, R"({"id":2,"name":"b"})");
  const auto records = Read(body).ValueOrDie();
  ASSERT_EQ(records.rows->num_rows(), kLines + 5);
  EXPECT_EQ(records.rows->Slice(kLines - 1, 2)->column(0)->ToString(), "[\n  1,\n  2\n]");
  ASSERT_EQ(records.dead_letters.size(), 1U);
  EXPECT_EQ(records.dead_letters[0].position, kLines + 1);
}

TEST(NdjsonBodyTest, MemoryIsClaimedForRowsAndDeadLetters) {
  std::int64_t claimed = 0;
  const ClaimMemory count = [&](std::int64_t bytes) {
    claimed += bytes;
    return Status::OK();
  };
  ASSERT_TRUE(Read(Repeated(1000, R"({"id":1})"), {}, count).ok());
  EXPECT_GE(claimed, 1000 * 8);
  claimed = 0;
  ASSERT_TRUE(Read(Repeated(1000, "x"), {}, count).ok());
  EXPECT_GE(claimed, 1000 * 2 * static_cast<std::int64_t>(sizeof(DeadLetter)));
}

TEST(NdjsonBodyTest, ReadingEndsWhereMemoryDoes) {
  int claims = 0;
  const ClaimMemory refuse = [&](std::int64_t) {
    return ++claims < 3 ? Status::OK() : InvalidError("enough");
  };
  EXPECT_EQ(ErrorText(Read(Repeated(2'000'000, "{}"), {}, refuse).status()), "enough");
  EXPECT_EQ(claims, 3);
}

TEST(NdjsonBodyTest, WhatIsNotOneObjectALineIsRefusedAsAWhole) {
  const std::string why = ": the body is JSON, but not one object a line";
  EXPECT_THAT(Describe("\n[{\"id\":1}]"), ElementsAre("line 2" + why));
  EXPECT_THAT(Describe("{\n\"id\":1}"), ElementsAre("line 1" + why));
}

TEST(NdjsonBodyTest, ATimeWithoutAUnitIsRefusedAsAWhole) {
  EXPECT_THAT(Describe("{\"id\":1,\"at\":1700000000}"),
              ElementsAre(::testing::StartsWith("line 1: column 'at'")));
  FileOptions options;
  options.time_units = ParseTimeUnits({"at=s"}).ValueOrDie();
  EXPECT_THAT(Describe("{\"id\":1,\"at\":1700000000}", options), ElementsAre("1 rows"));
}

}  // namespace
}  // namespace firn::sources
