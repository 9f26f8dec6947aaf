#include "firn/sources/files/csv_reader.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<CsvReader> ReaderOf(std::string text, CsvOptions options = {}) {
  auto input = std::make_shared<arrow::io::BufferReader>(
      arrow::Buffer::FromString(std::move(text)));
  return CsvReader::Make(std::move(input), "t.csv", std::move(options));
}

/// Each record as "value|value", null as "-".
void Append(const arrow::RecordBatch& batch, std::vector<std::string>& records) {
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    std::vector<std::string> values;
    for (const auto& column : batch.columns()) {
      const auto& texts = static_cast<const arrow::StringArray&>(*column);
      values.push_back(texts.IsNull(row) ? "-" : texts.GetString(row));
    }
    records.push_back(fmt::format("{}", fmt::join(values, "|")));
  }
}

Result<std::vector<std::string>> Read(std::string text, CsvOptions options = {}) {
  FIRN_ASSIGN_OR_RETURN(CsvReader reader, ReaderOf(std::move(text), std::move(options)));
  std::vector<std::string> records;
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const auto batch, reader.Next());
    if (batch == nullptr) return records;
    Append(*batch, records);
    EXPECT_EQ(reader.next_record(), std::ssize(records));
  }
}

std::vector<std::string> Records(std::string text, CsvOptions options = {}) {
  return Read(std::move(text), std::move(options)).ValueOrDie();
}

std::string Failure(std::string text, CsvOptions options = {}) {
  return ErrorText(Read(std::move(text), std::move(options)).status());
}

TEST(CsvReaderTest, ReadsRecordsAsText) {
  EXPECT_THAT(Records("a,b\n1,x\n2,y\n"), ElementsAre("1|x", "2|y"));
  EXPECT_THAT(ReaderOf("a,b\n1,x\n").ValueOrDie().schema()->field_names(),
              ElementsAre("a", "b"));
}

TEST(CsvReaderTest, LineEndsMayBeOfAnyKindOrMissing) {
  EXPECT_THAT(Records("a,b\r\n1,x\r\n2,y"), ElementsAre("1|x", "2|y"));
  EXPECT_THAT(Records("a,b\r1,x\r"), ElementsAre("1|x"));
  EXPECT_THAT(Records("\xef\xbb\xbf"
                      "a,b\n\n1,x\n\n\n2,y\n\n"),
              ElementsAre("1|x", "2|y"));
}

TEST(CsvReaderTest, QuotesMayHoldCommasQuotesAndLineBreaks) {
  EXPECT_THAT(Records("a,b\n\"1,\"\"2\"\"\",\"x\ny\"\n"), ElementsAre("1,\"2\"|x\ny"));
}

TEST(CsvReaderTest, OnlyUnquotedSpellingsAreNull) {
  EXPECT_THAT(Records("a,b\n,\"\"\nNA,\n"), ElementsAre("-|", "NA|-"));
  const CsvOptions spellings = {.null_spellings = {"NA", "null"}};
  EXPECT_THAT(Records("a,b\nNA,\"NA\"\nnull,\n", spellings), ElementsAre("-|NA", "-|"));
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
  EXPECT_EQ(Records(std::move(text)), expected);
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
  EXPECT_THAT(Failure(""), HasSubstr("t.csv: there is no header row"));
  EXPECT_THAT(Failure("\n\n"), HasSubstr("t.csv: there is no header row"));
  EXPECT_THAT(Failure("a,\"b\n1,2\n"), HasSubstr("t.csv: the header row does not end"));
  EXPECT_THAT(Failure("a,b,a\n1,2,3\n"),
              HasSubstr("t.csv: two columns have the name 'a'"));
  EXPECT_THAT(Failure("a,,c\n1,2,3\n"), HasSubstr("column 2 of the header has no name"));
  EXPECT_THAT(Failure("a,\xff\n1,2\n"), HasSubstr("column 2 of the header is not UTF-8"));
}

TEST(CsvReaderTest, RowErrorsNameFileAndRow) {
  EXPECT_THAT(Failure("a,b\n1,2\n3\n"), AllOf(HasSubstr("t.csv: "), HasSubstr("Row #3")));
  EXPECT_THAT(Failure("a,b\n1,2,3\n"), AllOf(HasSubstr("t.csv: "), HasSubstr("Row #2")));
  EXPECT_THAT(Failure("a,b\n1,2\n1,\xff\n"),
              AllOf(HasSubstr("t.csv: "), HasSubstr("Row #3"), HasSubstr("'b'")));
}

TEST(CsvReaderTest, RowNumbersGoOnFromBatchToBatch) {
  std::string text = "a,b\n";
  for (int i = 0; i < 50'000; ++i) text += "1,2\n";
  EXPECT_THAT(Failure(text + "3\n"), HasSubstr("Row #50002"));
}

TEST(CsvReaderTest, QuoteThatIsNeverClosedIsAnError) {
  EXPECT_THAT(Failure("a\n1\n\"2\n"), HasSubstr("t.csv: row 3: a quote is never closed"));
  EXPECT_THAT(Records("a\n1\n\"2\""), ElementsAre("1", "2"));
}

TEST(CsvReaderTest, RowsThatAreTooLongAreErrors) {
  const CsvOptions options = {.row_bytes_max = 3 << 20};
  EXPECT_THAT(Failure("a\n1\n\"2\n" + std::string(4 << 20, 'x') + "\n", options),
              HasSubstr("t.csv: row 3 is longer than 3145728 bytes"));
}

TEST(CsvReaderTest, MissingFileIsNamed) {
  EXPECT_THAT(ErrorText(CsvReader::Open("/no/such.csv", {}).status()),
              HasSubstr("/no/such.csv"));
}

}  // namespace
}  // namespace firn::sources
