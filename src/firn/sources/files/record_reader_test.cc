#include "firn/sources/files/record_reader.h"

#include <random>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/test_seed.h"
#include "firn/sources/files/test_folder.h"
#include "firn/sources/files/test_parquet.h"
#include "firn/types/arrow_types.h"
#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using types::Type;

types::Field Field(std::string name, std::string_view type, bool required = false) {
  return {.name = std::move(name),
          .type = types::ParsePrimitiveType(type).ValueOrDie(),
          .required = required};
}

types::Schema SchemaOf(std::vector<types::Field> fields) {
  return types::AssignFreshIds({.fields = std::move(fields)});
}

types::Schema NumberAndText() {
  return SchemaOf({Field("n", "long", /*required=*/true), Field("text", "string")});
}

struct Outcome {
  /// Each row as "record: value|value".
  std::vector<std::string> rows;
  /// As "record@line: reason: raw".
  std::vector<std::string> rejected;
};

void Append(const RecordBlock& block, const types::Schema& schema, Outcome& outcome) {
  EXPECT_TRUE(block.rows->ValidateFull().ok());
  EXPECT_EQ(block.rows->num_rows(), std::ssize(block.records));
  EXPECT_EQ(block.next - block.first,
            std::ssize(block.records) + std::ssize(block.rejected));
  for (std::int64_t row = 0; row < block.rows->num_rows(); ++row) {
    std::vector<std::string> values;
    for (int i = 0; i < block.rows->num_columns(); ++i) {
      const Type& type = schema.fields[static_cast<std::size_t>(i)].type;
      const arrow::Array& column = *block.rows->column(i);
      values.push_back(type.is_primitive()
                           ? types::ToText(type, types::ValueAt(column, type, row))
                           : column.GetScalar(row).ValueOrDie()->ToString());
    }
    outcome.rows.push_back(fmt::format(
        "{}: {}", block.records[static_cast<std::size_t>(row)], fmt::join(values, "|")));
  }
  for (const RejectedRecord& record : block.rejected) {
    outcome.rejected.push_back(fmt::format("{}@{}: {}: {}", record.record,
                                           record.line.value_or(-1), record.reason,
                                           record.raw));
  }
}

Result<Outcome> Read(FileRequest request) {
  const types::Schema schema = request.schema;
  FIRN_ASSIGN_OR_RETURN(const auto reader, OpenRecords(std::move(request)));
  Outcome outcome;
  std::optional<std::int64_t> next;
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const auto block, reader->Next());
    if (!block) return outcome;
    EXPECT_EQ(block->first, next.value_or(block->first));
    next = block->next;
    Append(*block, schema, outcome);
  }
}

class RecordReaderTest : public testing::Test {
 protected:
  Result<Outcome> ReadText(const std::string& name, const std::string& text,
                           FileOptions options = {}) {
    return Read({.path = folder_.Write(name, text),
                 .schema = NumberAndText(),
                 .options = std::move(options)});
  }
  std::string Failure(const std::string& name, const std::string& text,
                      FileOptions options = {}) {
    return ErrorText(ReadText(name, text, std::move(options)).status());
  }

  TestFolder folder_;
};

TEST_F(RecordReaderTest, CsvRecordsThatDoNotFitKeepTheirPlace) {
  const auto outcome =
      ReadText("a.csv", "text,n\nx,1\n\"a\nb\",\ny\nz,2x\n\"w\",3\n").ValueOrDie();
  EXPECT_THAT(outcome.rows, ElementsAre("0: 1|x", "4: 3|w"));
  EXPECT_THAT(outcome.rejected,
              ElementsAre("1@3: column 'n' is null, but required as long: \"a\nb\",",
                          "2@5: 1 value for 2 columns: y",
                          "3@6: column 'n': '2x' is not of type long: z,2x"));
}

TEST_F(RecordReaderTest, NdjsonRecordsThatDoNotFitKeepTheirPlace) {
  const auto outcome =
      ReadText("a.ndjson",
               "{\"n\":1}\r\n\n  \n {\"n\":2,\"text\":\"x\"} \nnot json\n"
               "{\"n\":\"3\"}\n{\"text\":\"x\"}\n{\"n\":4,\"text\":\"cut")
          .ValueOrDie();
  EXPECT_THAT(outcome.rows, ElementsAre("0: 1|null", "1: 2|x"));
  EXPECT_THAT(
      outcome.rejected,
      ElementsAre("2@5: not JSON: no value at byte 1: not json",
                  "3@6: column 'n': the string '3' is not of type long: {\"n\":\"3\"}",
                  "4@7: column 'n' is null, but required as long: {\"text\":\"x\"}",
                  "5@8: not JSON: it ends inside a string at byte 19: "
                  "{\"n\":4,\"text\":\"cut"));
}

TEST_F(RecordReaderTest, ParquetRowsThatDoNotFitKeepTheirPlace) {
  const std::string path = folder_.path() + "/a.parquet";
  WriteParquet(path,
               *BatchOf({{"text", arrow::binary(), R"(["x", "a\"b", "\u00e4", "z"])"},
                         {"n", arrow::int32(), "[1, null, 3, 4]"}}));
  const auto outcome = Read({.path = path, .schema = NumberAndText()}).ValueOrDie();
  EXPECT_THAT(outcome.rows, ElementsAre("0: 1|x", "2: 3|ä", "3: 4|z"));
  EXPECT_THAT(outcome.rejected,
              ElementsAre("1@-1: column 'n' is null, but required as long: "
                          R"({"text":"a\"b","n":null})"));
}

TEST_F(RecordReaderTest, OneNestedParquetValueThatDoesNotFitRejectsItsRowAlone) {
  const types::Field in = Field("a", "int");
  struct Case {
    std::shared_ptr<arrow::DataType> from;
    Type to;
    const char* json;
    const char* bad;
  };
  const Case cases[] = {
      {arrow::list(arrow::int64()), Type::List(in),
       "[[1, 2], [3, 1099511627776], null, [4]]", "[3,1099511627776]"},
      {arrow::large_list(arrow::int64()), Type::List(in),
       "[[1, 2], [3, 1099511627776], null, [4]]", "[3,1099511627776]"},
      {arrow::struct_({arrow::field("a", arrow::int64())}), Type::Struct({in}),
       R"([{"a": 1}, {"a": 1099511627776}, null, {"a": 4}])", R"({"a":1099511627776})"},
      {arrow::map(arrow::utf8(), arrow::int64()), Type::Map(Field("", "string"), in),
       R"([[["k", 1]], [["k", 1099511627776]], null, [["l", 4]]])",
       R"({"k":1099511627776})"},
      {arrow::list(arrow::struct_({arrow::field("a", arrow::int64())})),
       Type::List({.name = "", .type = Type::Struct({in})}),
       R"([[{"a": 1}], [{"a": 1099511627776}], null, [{"a": 4}, {"a": 5}]])",
       R"([{"a":1099511627776}])"},
  };
  const std::string path = folder_.path() + "/a.parquet";
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.from->ToString());
    WriteParquet(path, *BatchOf({{"c", expected.from, expected.json}}));
    const types::Schema schema = SchemaOf({{.name = "c", .type = expected.to}});
    for (const std::int64_t first : {0, 1, 2, 3}) {
      const auto outcome =
          Read({.path = path, .schema = schema, .first_record = first}).ValueOrDie();
      EXPECT_EQ(std::ssize(outcome.rows), first < 2 ? 3 - first : 4 - first);
      EXPECT_THAT(outcome.rows.back(), testing::StartsWith("3: "));
      ASSERT_EQ(outcome.rejected.size(), first < 2 ? 1u : 0u);
      if (first >= 2) continue;
      EXPECT_THAT(outcome.rejected[0],
                  AllOf(testing::StartsWith("1@-1: column 'c."),
                        testing::EndsWith(fmt::format("{{\"c\":{}}}", expected.bad))));
    }
  }
}

TEST_F(RecordReaderTest, ParquetStringsThatAreNotUtf8AreRejected) {
  arrow::BinaryBuilder builder;
  ASSERT_TRUE(builder.Append("\xff").ok());
  ASSERT_TRUE(builder.Append("ok").ok());
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("text", arrow::binary())}), 2,
                               {builder.Finish().ValueOrDie()});
  const std::string path = folder_.path() + "/a.parquet";
  WriteParquet(path, *batch);
  const auto outcome =
      Read({.path = path, .schema = SchemaOf({Field("text", "string")})}).ValueOrDie();
  EXPECT_THAT(outcome.rows, ElementsAre("1: ok"));
  EXPECT_THAT(outcome.rejected,
              ElementsAre("0@-1: column 'text' is not UTF-8: {\"text\":\"\xff\"}"));
}

TEST_F(RecordReaderTest, ParquetMayBeReadFromAnyRow) {
  std::string json = "[0";
  for (int i = 1; i < 20'000; ++i) json += fmt::format(",{}", i);
  const std::string path = folder_.path() + "/a.parquet";
  WriteParquet(path, *BatchOf({{"n", arrow::int64(), json + "]"}}), 700);
  for (const std::int64_t first : {0, 1, 699, 700, 701, 19'999, 20'000, 30'000}) {
    const auto outcome =
        Read({.path = path, .schema = NumberAndText(), .first_record = first})
            .ValueOrDie();
    ASSERT_EQ(std::ssize(outcome.rows), std::max<std::int64_t>(20'000 - first, 0));
    if (first < 20'000) {
      EXPECT_EQ(outcome.rows[0], fmt::format("{}: {}|null", first, first));
      EXPECT_EQ(outcome.rows.back(), "19999: 19999|null");
    }
  }
}

TEST_F(RecordReaderTest, TextMayBeReadFromAnyRecord) {
  std::string csv = "n,text\n", ndjson;
  for (int i = 0; i < 20'000; ++i) {
    csv += fmt::format("{},x\n", i % 10 == 3 ? "bad" : std::to_string(i));
    ndjson += fmt::format("{{\"n\":{}}}\n", i % 10 == 3 ? "bad" : std::to_string(i));
  }
  for (const auto& [name, text] :
       {std::pair("a.csv", csv), std::pair("a.json", ndjson)}) {
    const std::string path = folder_.Write(name, text);
    for (const std::int64_t first : {0, 1, 8192, 19'995, 20'000, 30'000}) {
      const auto outcome =
          Read({.path = path, .schema = NumberAndText(), .first_record = first})
              .ValueOrDie();
      EXPECT_EQ(std::ssize(outcome.rows) + std::ssize(outcome.rejected),
                std::max<std::int64_t>(20'000 - first, 0));
      if (first == 19'995) {
        EXPECT_THAT(outcome.rows[0], HasSubstr("19995: 19995|"));
      }
    }
  }
}

TEST_F(RecordReaderTest, FormatIsToldByNameThenByContent) {
  EXPECT_THAT(ReadText("a.tsv", "n\ttext\n1\tx,y\n").ValueOrDie().rows,
              ElementsAre("0: 1|x,y"));
  EXPECT_THAT(ReadText("A.CSV", "n\n1\n").ValueOrDie().rows, ElementsAre("0: 1|null"));
  EXPECT_THAT(ReadText("a.jsonl", "{\"n\":1}\n").ValueOrDie().rows,
              ElementsAre("0: 1|null"));
  EXPECT_THAT(ReadText("a.log", " {\"n\":1}\n").ValueOrDie().rows,
              ElementsAre("0: 1|null"));
  EXPECT_THAT(ReadText("a.log", "n\n1\n", {.format = FileFormat::kCsv}).ValueOrDie().rows,
              ElementsAre("0: 1|null"));
  const std::string path = folder_.path() + "/data";
  WriteParquet(path, *BatchOf({{"n", arrow::int64(), "[1]"}}));
  EXPECT_THAT(Read({.path = path, .schema = NumberAndText()}).ValueOrDie().rows,
              ElementsAre("0: 1|null"));
  EXPECT_THAT(Failure("a.log", "n\n1\n"),
              HasSubstr("a.log: cannot tell its format; give --format csv"));
  EXPECT_THAT(
      Failure("a.csv.BZ2", "BZh9"),
      HasSubstr("a.csv.BZ2: of compressions there are gzip and zstd; decompress"));
  EXPECT_THAT(Failure("a.xlsx", "PK"),
              HasSubstr("a.xlsx: of formats there are CSV, NDJSON and Parquet; convert"));
}

TEST_F(RecordReaderTest, FilesThatCannotBeReadAreNamed) {
  for (const char* name : {"a.csv", "a.ndjson", "a"}) {
    EXPECT_THAT(Failure(name, ""),
                HasSubstr(fmt::format("/{}: the file is empty", name)));
  }
  EXPECT_THAT(Failure("a.parquet", "n\n1\n"), HasSubstr("a.parquet: "));
  EXPECT_THAT(Failure("a.parquet", ""), HasSubstr("a.parquet: "));
  EXPECT_THAT(Failure("a.json", "[{\"n\":1}]\n"),
              HasSubstr("a.json: is JSON, but not one object a line"));
  EXPECT_THAT(Failure("a.json", "{\n  \"n\": 1\n}\n"),
              HasSubstr("not one object a line"));
  EXPECT_THAT(Failure("a.csv", "n,more\n1,2\n"),
              HasSubstr("a.csv: the table has no column 'more'; it has n, text"));
  EXPECT_THAT(Failure("a.csv", "text\nx\n"),
              HasSubstr("a.csv: column 'n' is required, but not there"));
  const std::string path = folder_.path() + "/b.parquet";
  WriteParquet(path, *BatchOf({{"n", arrow::utf8(), "[\"1\"]"}}));
  EXPECT_THAT(ErrorText(Read({.path = path, .schema = NumberAndText()}).status()),
              HasSubstr("b.parquet: column 'n' is of type string in the file"));
  EXPECT_THAT(
      ErrorText(Read({.path = "/no/such.csv", .schema = NumberAndText()}).status()),
      HasSubstr("/no/such.csv: no such file"));
}

TEST_F(RecordReaderTest, UndeclaredUnitsAreErrorsOfTheFile) {
  const types::Schema schema = SchemaOf({Field("ts", "timestamptz")});
  for (const auto& [name, text] : {std::pair("a.csv", "ts\n1700000000\n"),
                                   std::pair("a.json", "{\"ts\":1700000000}")}) {
    const std::string path = folder_.Write(name, text);
    EXPECT_THAT(ErrorText(Read({.path = path, .schema = schema}).status()),
                AllOf(HasSubstr(path), HasSubstr("--time-unit 'ts=s'")));
    EXPECT_THAT(Read({.path = path,
                      .schema = schema,
                      .options = {.time_units = {{"ts", TimeUnit::kSeconds}}}})
                    .ValueOrDie()
                    .rows,
                ElementsAre("0: 2023-11-14T22:13:20+00:00"));
  }
}

TEST_F(RecordReaderTest, StrayNumberAmongTimesIsNoErrorOfAFileThatIsReadOn) {
  const types::Schema schema = SchemaOf({Field("ts", "timestamptz")});
  for (const auto& [name, text] :
       {std::pair("a.csv", "ts\n2013-01-01T00:00:00Z\n5\n2013-01-02T00:00:00Z\n"),
        std::pair("a.json",
                  "{\"ts\":\"2013-01-01T00:00:00Z\"}\n{\"ts\":5}\n"
                  "{\"ts\":\"2013-01-02T00:00:00Z\"}\n")}) {
    const std::string path = folder_.Write(name, text);
    const auto outcome =
        Read({.path = path, .schema = schema, .first_record = 1}).ValueOrDie();
    EXPECT_THAT(outcome.rows, ElementsAre("2: 2013-01-02T00:00:00+00:00"));
    EXPECT_THAT(outcome.rejected,
                ElementsAre(AllOf(HasSubstr("1@"), HasSubstr("--time-unit 'ts=s'"))));
  }
}

TEST_F(RecordReaderTest, UnknownColumnsMayBeIgnored) {
  const FileOptions ignore = {.ignore_unknown = true};
  EXPECT_THAT(ReadText("a.csv", "n,more\n1,2\n", ignore).ValueOrDie().rows,
              ElementsAre("0: 1|null"));
  EXPECT_THAT(ReadText("a.json", "{\"n\":1,\"more\":[2]}\n", ignore).ValueOrDie().rows,
              ElementsAre("0: 1|null"));
}

TEST_F(RecordReaderTest, ARecordWithoutAKnownFieldDoesNotFit) {
  const std::string text =
      "{\"more\":2}\n{\"n\":1,\"x\":2}\n{\"x\":null,\"y\":[]}\n{\"z\":[],\"y\":{\"n\":1}}"
      "\n";
  const types::Schema schema = SchemaOf({Field("n", "long")});
  const Outcome outcome = Read({.path = folder_.Write("a.json", text),
                                .schema = schema,
                                .options = {.ignore_unknown = true}})
                              .ValueOrDie();
  EXPECT_THAT(outcome.rows, ElementsAre("1: 1", "2: null"));
  EXPECT_THAT(
      outcome.rejected,
      ElementsAre(HasSubstr("0@1: the table has none of the record's fields, 'more'"),
                  HasSubstr("3@4: the table has none of the record's fields, 'y'")));
}

TEST_F(RecordReaderTest, HeaderlessFilesHaveTheColumnsOfTheTable) {
  const FileOptions options = {.csv = {.has_header = false}};
  EXPECT_THAT(ReadText("a.csv", "1,x\n2\n", options).ValueOrDie().rows,
              ElementsAre("0: 1|x"));
}

TEST_F(RecordReaderTest, ProgressReachesTheEnd) {
  const std::string parquet = folder_.path() + "/a.parquet";
  WriteParquet(parquet, *BatchOf({{"n", arrow::int64(), "[1]"}}));
  for (const std::string& path : {folder_.Write("a.csv", "n\n1\n"),
                                  folder_.Write("a.json", "{\"n\":1}\n"), parquet}) {
    const auto reader =
        OpenRecords({.path = path, .schema = NumberAndText()}).ValueOrDie();
    while (reader->Next().ValueOrDie()) {
    }
    EXPECT_EQ(reader->progress().bytes_read, reader->progress().bytes_total) << path;
    EXPECT_GT(reader->progress().bytes_read, 0);
  }
}

std::string RandomLines(std::mt19937_64& random) {
  static const std::vector<std::string> kPieces = {
      "{\"n\":1}", "{\"n\":2,\"text\":\"x\"}",
      "\n",        "\n",
      "\n",        "\r\n",
      "{",         "}",
      "\"",        "[1,2]",
      "null",      " ",
      "\xff",      "{\"n\":",
      "9e99",      "\\",
      "\t",        ","};
  std::string text;
  for (std::uint64_t i = random() % 40; i > 0; --i) {
    text += kPieces[random() % kPieces.size()];
  }
  return text;
}

TEST_F(RecordReaderTest, RandomLinesAreReadAlikeFromAnywhere) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 1000; ++i) {
    const std::string path =
        folder_.Write("a.ndjson", "{\"n\":0}\n" + RandomLines(random));
    const auto whole = Read({.path = path, .schema = NumberAndText()}).ValueOrDie();
    const std::size_t count = whole.rows.size() + whole.rejected.size();
    const std::size_t first = random() % (count + 1);
    const auto rest = Read({.path = path,
                            .schema = NumberAndText(),
                            .first_record = static_cast<std::int64_t>(first)})
                          .ValueOrDie();
    EXPECT_EQ(rest.rows.size() + rest.rejected.size(), count - first);
    EXPECT_TRUE(std::equal(rest.rows.rbegin(), rest.rows.rend(), whole.rows.rbegin()));
    EXPECT_TRUE(std::equal(rest.rejected.rbegin(), rest.rejected.rend(),
                           whole.rejected.rbegin()));
  }
}

}  // namespace
}  // namespace firn::sources
