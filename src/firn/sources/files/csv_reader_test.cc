#include "firn/sources/files/csv_reader.h"

#include <random>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/util/utf8.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/test_seed.h"

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Names = std::vector<std::string>;

Result<CsvReader> ReaderOf(std::string text, CsvOptions options = {}, Names names = {}) {
  auto input = std::make_shared<arrow::io::BufferReader>(
      arrow::Buffer::FromString(std::move(text)));
  FIRN_ASSIGN_OR_RETURN(InputFile file, InputFile::Make(std::move(input), "t.csv", {}));
  return CsvReader::Make(std::move(file), std::move(options), std::move(names));
}

struct Outcome {
  /// Each record as "value|value", null as "-".
  std::vector<std::string> records;
  /// As "record@line".
  std::vector<std::string> places;
  /// As "record@line: reason: raw".
  std::vector<std::string> malformed;
};

void Append(const CsvRecords& records, Outcome& outcome) {
  for (std::int64_t row = 0; row < records.texts->num_rows(); ++row) {
    std::vector<std::string> values;
    for (const auto& column : records.texts->columns()) {
      const auto& texts = static_cast<const arrow::StringArray&>(*column);
      values.push_back(texts.IsNull(row) ? "-" : texts.GetString(row));
    }
    outcome.records.push_back(fmt::format("{}", fmt::join(values, "|")));
    const CsvPlace& place = records.places[static_cast<std::size_t>(row)];
    outcome.places.push_back(fmt::format("{}@{}", place.record, place.line));
  }
  for (const RejectedRecord& record : records.malformed) {
    outcome.malformed.push_back(fmt::format("{}@{}: {}: {}", record.record, *record.line,
                                            record.reason, record.raw));
  }
}

Result<Outcome> ReadAll(CsvReader& reader) {
  Outcome outcome;
  std::optional<std::int64_t> next;
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const CsvRecords records, reader.Next());
    if (records.first == records.next) return outcome;
    EXPECT_EQ(records.first, next.value_or(records.first));
    next = records.next;
    EXPECT_EQ(records.next - records.first,
              std::ssize(records.places) + std::ssize(records.malformed));
    EXPECT_EQ(records.texts->num_rows(), std::ssize(records.places));
    Append(records, outcome);
  }
}

Result<Outcome> Read(std::string text, CsvOptions options = {}) {
  FIRN_ASSIGN_OR_RETURN(CsvReader reader, ReaderOf(std::move(text), std::move(options)));
  return ReadAll(reader);
}

std::vector<std::string> Records(std::string text, CsvOptions options = {}) {
  Outcome outcome = Read(std::move(text), std::move(options)).ValueOrDie();
  EXPECT_THAT(outcome.malformed, IsEmpty());
  return std::move(outcome.records);
}

std::vector<std::string> Malformed(std::string text) {
  return Read(std::move(text)).ValueOrDie().malformed;
}

std::string Failure(std::string text, CsvOptions options = {}) {
  return ErrorText(Read(std::move(text), std::move(options)).status());
}

TEST(CsvReaderTest, ReadsRecordsAsText) {
  EXPECT_THAT(Records("a,b\n1,x\n2,y\n"), ElementsAre("1|x", "2|y"));
  EXPECT_THAT(ReaderOf("a,\"b \"\"2\"\"\"\n1,x\n").ValueOrDie().schema()->field_names(),
              ElementsAre("a", "b \"2\""));
}

TEST(CsvReaderTest, LineEndsMayBeOfAnyKindOrMissing) {
  EXPECT_THAT(Records("a,b\r\n1,x\r\n2,y"), ElementsAre("1|x", "2|y"));
  EXPECT_THAT(Records("a,b\r1,x\r"), ElementsAre("1|x"));
  EXPECT_THAT(Records("\xef\xbb\xbf"
                      "a,b\n\n1,x\n\n\n2,y\n\n"),
              ElementsAre("1|x", "2|y"));
  EXPECT_THAT(Records("a,b\n1,"), ElementsAre("1|-"));
}

TEST(CsvReaderTest, QuotesMayHoldCommasQuotesAndLineBreaks) {
  EXPECT_THAT(Records("a,b\n\"1,\"\"2\"\"\",\"x\ny\"\n"), ElementsAre("1,\"2\"|x\ny"));
  EXPECT_THAT(Records("a,b\n5\" pipe,x\"y\"\n"), ElementsAre("5\" pipe|x\"y\""));
}

TEST(CsvReaderTest, OnlyUnquotedSpellingsAreNull) {
  EXPECT_THAT(Records("a,b\n,\"\"\nNA,\n"), ElementsAre("-|", "NA|-"));
  const CsvOptions spellings = {.null_spellings = {"NA", "null"}};
  EXPECT_THAT(Records("a,b\nNA,\"NA\"\nnull,\n", spellings), ElementsAre("-|NA", "-|"));
}

TEST(CsvReaderTest, DelimiterMayBeAnother) {
  EXPECT_THAT(Records("a;b\n1,5;\"x;y\"\n", {.delimiter = ';'}), ElementsAre("1,5|x;y"));
  EXPECT_THAT(Records("a\tb\n1\tx\n", {.delimiter = '\t'}), ElementsAre("1|x"));
}

TEST(CsvReaderTest, HeaderMayBeMissing) {
  const CsvOptions options = {.has_header = false};
  EXPECT_THAT(Records("1,x\n2,y\n", options), ElementsAre("1|x", "2|y"));
  CsvReader reader = ReaderOf("\n1,x\n", options).ValueOrDie();
  EXPECT_THAT(reader.schema()->field_names(), ElementsAre("column_1", "column_2"));
  EXPECT_THAT(ReadAll(reader).ValueOrDie().places, ElementsAre("0@2"));
  EXPECT_THAT(
      ReaderOf("1,x\n", options, {"a", "b", "c"}).ValueOrDie().schema()->field_names(),
      ElementsAre("a", "b"));
  EXPECT_THAT(ErrorText(ReaderOf("1,x\n", options, {"a"}).status()),
              HasSubstr("t.csv: its records have 2 values, but the columns are a"));
}

TEST(CsvReaderTest, WithoutAHeaderMostRecordsTellTheColumns) {
  const CsvOptions options = {.has_header = false};
  const auto columns = [&](const std::string& text, Names names = {"a", "b", "c"}) {
    return ReaderOf(text, options, std::move(names)).ValueOrDie().schema()->num_fields();
  };
  EXPECT_EQ(columns("1\n1,x\n2,y\n"), 2);
  EXPECT_EQ(columns("1,x,\n1,x\n2,y\n"), 2);
  EXPECT_EQ(columns("\"1\"1,x,y\n1,x\n"), 2);
  EXPECT_EQ(columns("1\n1,x\n"), 2);
  EXPECT_EQ(columns("1,2\n1,x,y\n1,x,y\n", {}), 3);
  EXPECT_EQ(columns("\"never closed,1\n"), 1);
  CsvReader reader = ReaderOf("1\n1,x\n2,y\n3,z,z\n", options).ValueOrDie();
  const Outcome outcome = ReadAll(reader).ValueOrDie();
  EXPECT_THAT(outcome.records, ElementsAre("1|x", "2|y"));
  EXPECT_THAT(outcome.malformed, ElementsAre("0@1: 1 value for 2 columns: 1",
                                             "3@4: 3 values for 2 columns: 3,z,z"));
}

TEST(CsvReaderTest, WithoutAHeaderRecordsMayBeLongerThanOneRead) {
  const std::string longer(3 << 20, 'x');
  CsvReader reader =
      ReaderOf("1," + longer + "\n2,y\n", {.has_header = false}).ValueOrDie();
  EXPECT_EQ(ReadAll(reader).ValueOrDie().records.size(), 2u);
}

TEST(CsvReaderTest, HeaderAloneHasNoRecords) {
  EXPECT_THAT(Records("a,b\n"), ElementsAre());
  EXPECT_THAT(Records("a,b"), ElementsAre());
}

TEST(CsvReaderTest, ManyRecordsComeInBatches) {
  std::string text = "n,text\n";
  std::vector<std::string> expected;
  for (int i = 0; i < 200'000; ++i) {
    text += fmt::format("{},\"line {}\r\nline 2\"\r\n", i, i);
    expected.push_back(fmt::format("{}|line {}\r\nline 2", i, i));
  }
  const Outcome outcome = Read(std::move(text)).ValueOrDie();
  EXPECT_EQ(outcome.records, expected);
  EXPECT_EQ(outcome.places.back(), "199999@400000");
}

TEST(CsvReaderTest, BlankLinesMayFollowAFullBatch) {
  std::string text = "a\n";
  for (int i = 0; i < 8192; ++i) text += "1\n";
  EXPECT_EQ(Records(text + "\n\r\n\n").size(), 8192u);
  EXPECT_EQ(Records(text + "\n\n2").size(), 8193u);
}

TEST(CsvReaderTest, RowsMayBeLongerThanOneRead) {
  const std::string value((3 << 20) + 7, 'x');
  EXPECT_THAT(Records("a\n" + value + "\n" + value + "\n"), ElementsAre(value, value));
}

TEST(CsvReaderTest, HeaderErrorsNameFileAndColumn) {
  EXPECT_THAT(Failure(""), HasSubstr("t.csv: the file is empty"));
  EXPECT_THAT(Failure("\n\n"), HasSubstr("t.csv: the file is empty"));
  EXPECT_THAT(Failure("a,\"b\n1,2\n"),
              HasSubstr("t.csv: line 1: a quote is never closed"));
  EXPECT_THAT(Failure("a,b,a\n1,2,3\n"),
              HasSubstr("t.csv: the header row: two columns have the name 'a'"));
  EXPECT_THAT(Failure("a,b,A\n1,2,3\n"), HasSubstr("'a' and 'A' differ only in case"));
  EXPECT_THAT(Failure("a,,c\n1,2,3\n"), HasSubstr("column 2 has no name"));
  EXPECT_THAT(Failure("sep=;\na;b\n"),
              HasSubstr("t.csv: line 1 is 'sep=;', which is for spreadsheets: remove it, "
                        "and give --delimiter ';'"));
  EXPECT_THAT(Failure("a,\xff\n1,2\n"), HasSubstr("the name of column 2 is not UTF-8"));
}

TEST(CsvReaderTest, MalformedRowsAreRejectedAlone) {
  EXPECT_THAT(Malformed("a,b\n1,2\n3\n4,5\n"),
              ElementsAre("1@3: 1 value for 2 columns: 3"));
  EXPECT_THAT(Malformed("a,b\n1,2,3\r\n"),
              ElementsAre("0@2: 3 values for 2 columns: 1,2,3"));
  EXPECT_THAT(Malformed("a,b\n\"x\ny\",2\n1,\xff\n"),
              ElementsAre("1@4: not UTF-8: 1,\xff"));
  EXPECT_THAT(Malformed("a,b\n\"x\"y,2\n3,4\n"),
              ElementsAre("0@2: something follows a closing quote: \"x\"y,2"));
  EXPECT_THAT(Read("a,b\n1,2\n3\n4,5\n").ValueOrDie().records, ElementsAre("1|2", "4|5"));
}

TEST(CsvReaderTest, QuoteThatIsNeverClosedTakesTheRest) {
  EXPECT_THAT(Malformed("a\n1\n\"2\n3\n"),
              ElementsAre("1@3: a quote is never closed; the remaining 1 line of the "
                          "file is in it: \"2\n3\n"));
  std::string lines = "a\n\"2";
  for (int i = 0; i < 1999; ++i) lines += "\n3";
  EXPECT_THAT(
      Malformed(lines),
      ElementsAre(HasSubstr("; the remaining 1,999 lines of the file are in it")));
  EXPECT_THAT(Malformed("a\n\"2\n"), ElementsAre("0@2: a quote is never closed: \"2\n"));
  EXPECT_THAT(Records("a\n1\n\"2\""), ElementsAre("1", "2"));
}

TEST(CsvReaderTest, RowsThatAreTooLongAreErrors) {
  const CsvOptions options = {.row_bytes_max = 3 << 20};
  EXPECT_THAT(Failure("a\n1\n\"2\n" + std::string(4 << 20, 'x') + "\n", options),
              HasSubstr("t.csv: line 3 (is a quote never closed?): longer than 3145728"));
}

TEST(CsvReaderTest, PassesOverRecordsThatAreNotWanted) {
  std::string text = "a\n";
  for (int i = 0; i < 30'000; ++i) text += fmt::format("{}\n", i);
  CsvReader reader = ReaderOf(text).ValueOrDie();
  reader.SkipTo(29'998);
  const Outcome outcome = ReadAll(reader).ValueOrDie();
  EXPECT_THAT(outcome.records, ElementsAre("29998", "29999"));
  EXPECT_THAT(outcome.places, ElementsAre("29998@30000", "29999@30001"));
  CsvReader behind = ReaderOf(text).ValueOrDie();
  behind.SkipTo(30'000);
  EXPECT_THAT(ReadAll(behind).ValueOrDie().records, IsEmpty());
}

std::string RandomText(std::mt19937_64& random) {
  static constexpr std::string_view kBytes = ",,,\"\"\n\n\r;ab1 \xc3\xa4\xff";
  std::string text;
  for (std::uint64_t i = random() % 200; i > 0; --i) {
    text += kBytes[random() % kBytes.size()];
  }
  return text;
}

TEST(CsvReaderTest, RandomBytesAreReadAlikeFromAnywhere) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 5000; ++i) {
    const std::string text = "a,b\n" + RandomText(random);
    const Outcome whole = Read(text).ValueOrDie();
    std::vector<std::string> expected = whole.places;
    const std::size_t count = whole.places.size() + whole.malformed.size();
    const std::size_t skipped = count == 0 ? 0 : random() % (count + 1);
    CsvReader reader = ReaderOf(text).ValueOrDie();
    reader.SkipTo(static_cast<std::int64_t>(skipped));
    const Outcome rest = ReadAll(reader).ValueOrDie();
    EXPECT_EQ(rest.places.size() + rest.malformed.size(), count - skipped) << text;
    const auto ends_with = [](const auto& all, const auto& tail) {
      return std::equal(tail.rbegin(), tail.rend(), all.rbegin());
    };
    EXPECT_TRUE(ends_with(whole.records, rest.records)) << text;
    EXPECT_TRUE(ends_with(whole.places, rest.places)) << text;
    EXPECT_TRUE(ends_with(whole.malformed, rest.malformed)) << text;
  }
}

}  // namespace
}  // namespace firn::sources
