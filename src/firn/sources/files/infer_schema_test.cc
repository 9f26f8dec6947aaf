#include "firn/sources/files/infer_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/files/test_folder.h"
#include "firn/sources/files/test_parquet.h"

namespace firn::sources {
namespace {

using testing::HasSubstr;

class InferSchemaTest : public testing::Test {
 protected:
  Result<std::string> Infer(const std::vector<std::string>& files,
                            const FileOptions& options = {}) {
    FIRN_ASSIGN_OR_RETURN(
        const InferredSchema inferred,
        InferSchema(files, options, StopToken(),
                    [&](std::int64_t n, std::int64_t) { records_ = n; }));
    std::vector<std::string> columns;
    for (const types::Field& field : inferred.schema.fields) {
      EXPECT_FALSE(field.required);
      columns.push_back(
          fmt::format("{}:{}:{}", field.id, field.name, field.type.ToString()));
    }
    return fmt::format("{}", fmt::join(columns, " "));
  }
  std::string Failure(const std::vector<std::string>& files,
                      const FileOptions& options = {}) {
    return ErrorText(Infer(files, options).status());
  }
  std::vector<std::string> NotesOf(const std::string& file,
                                   const FileOptions& options = {}) {
    return InferSchema({file}, options, StopToken(), [](auto, auto) {})
        .ValueOrDie()
        .notes;
  }
  std::string Parquet(const std::string& name, const std::vector<TestColumn>& columns) {
    std::string path = folder_.path() + "/" + name;
    WriteParquet(path, *BatchOf(columns));
    return path;
  }

  TestFolder folder_;
  std::int64_t records_ = 0;
};

TEST_F(InferSchemaTest, AllFilesCount) {
  const std::string a = folder_.Write("a.csv", "n,x\n1,\n");
  const std::string b = folder_.Write("b.csv", "n,y\n1.5,true\nbroken\n");
  EXPECT_EQ(Infer({a, b}).ValueOrDie(), "1:n:double 2:x:string 3:y:boolean");
  EXPECT_EQ(records_, 3);
  const std::string c = folder_.Write("c.json", "{\"n\":1}\nbroken\n{\"m\":[\"x\"]}\n");
  EXPECT_EQ(Infer({c}).ValueOrDie(), "1:n:long 2:m:list<string>");
}

TEST_F(InferSchemaTest, AHeaderWithoutRecordsTellsNoTypes) {
  EXPECT_THAT(ErrorText(Infer({folder_.Write("a.csv", "a,b\n")}).status()),
              HasSubstr("a.csv: no records to tell the columns' types from"));
  EXPECT_EQ(Infer({folder_.Write("b.csv", "1,x\n")}, {.csv = {.has_header = false}})
                .ValueOrDie(),
            "1:column_1:long 2:column_2:string");
}

TEST_F(InferSchemaTest, ParquetHasItsSchema) {
  const std::string a =
      Parquet("a.parquet",
              {{"n", arrow::int32(), "[1]"},
               {"ts", arrow::timestamp(arrow::TimeUnit::NANO, "UTC"), "[1000]"},
               {"d", arrow::dictionary(arrow::int8(), arrow::utf8()), "[\"x\"]"},
               {"s", arrow::struct_({arrow::field("l", arrow::list(arrow::int64()))}),
                "[{\"l\": [1]}]"},
               {"nothing", arrow::null(), "[null]"}});
  const std::string b = Parquet("b.parquet", {{"n", arrow::int64(), "[1]"}});
  EXPECT_EQ(Infer({a, b}).ValueOrDie(),
            "1:n:long 2:ts:timestamptz 3:d:string 4:s:struct<5: l: list<long>>");
  EXPECT_EQ(Infer({b}, {.time_units = {{"n", TimeUnit::kSeconds}}}).ValueOrDie(),
            "1:n:timestamptz");
}

TEST_F(InferSchemaTest, AHeaderThatHoldsAnotherDelimiterIsAnError) {
  const std::string file = folder_.Write("semi.csv", "a;b\n1;2\n");
  EXPECT_THAT(Failure({file}),
              HasSubstr("semi.csv: the header is read as one column, 'a;b'; if ';' "
                        "separates values, give --delimiter ';', and if it is one "
                        "column, --delimiter ','"));
  EXPECT_EQ(Infer({file}, {.csv = {.delimiter = ';'}}).ValueOrDie(), "1:a:long 2:b:long");
  EXPECT_EQ(Infer({file}, {.csv = {.delimiter = ','}}).ValueOrDie(), "1:a;b:string");
  EXPECT_THAT(
      Failure({folder_.Write("comma.tsv", "a,b\n1,2\n")}),
      HasSubstr("give --delimiter ',', and if it is one column, --delimiter '\\t'"));
}

TEST_F(InferSchemaTest, ARecordWithoutAHeaderMayHoldAnotherDelimiter) {
  const std::string file = folder_.Write("semi.csv", "1;2\n");
  EXPECT_THAT(NotesOf(file, {.csv = {.has_header = false}}),
              testing::ElementsAre(HasSubstr("semi.csv: is read as one column; if ';'")));
  EXPECT_THAT(NotesOf(folder_.Write("one.csv", "12\n"), {.csv = {.has_header = false}}),
              testing::IsEmpty());
}

TEST_F(InferSchemaTest, AHeaderThatLooksLikeARecordIsAnError) {
  for (const std::string header :
       {"x,2024-01-02T03:04:05Z", "2024-01-02 03:04:05.123456789,x", "x,1.5", "1,2",
        "\"two\nlines\",x", "1,2024-01-02,x", "true,7,x", "2024-01-02"}) {
    EXPECT_THAT(Failure({folder_.Write("a.csv", header + "\n" + header + "\n")}),
                HasSubstr("a.csv: the header row looks like a record: give --no-header"))
        << header;
  }
  for (const std::string header :
       {"shop,2024,2025", "shop,2024-01-01,2024-02-01", "t,f", "nan,inf", "v1.5,25%"}) {
    EXPECT_TRUE(Infer({folder_.Write("a.csv", header + "\n")})
                    .status()
                    .ToString()
                    .find("looks like") == std::string::npos)
        << header;
  }
  EXPECT_THAT(
      NotesOf(folder_.Write("years.csv", "shop,2024\nx,1\n")),
      testing::ElementsAre(HasSubstr("years.csv: a column is named '2024'; if the "
                                     "first line is a record, give --no-header")));
}

TEST_F(InferSchemaTest, FilesThatDoNotGoTogetherAreErrors) {
  const std::string csv = folder_.Write("a.csv", "n\n1\n");
  const std::string json = folder_.Write("a.json", "{\"n\":1}\n");
  EXPECT_THAT(
      Failure({csv, json}),
      HasSubstr("a.json: is ndjson, and a file before it csv; give one --schema"));
  const std::string a = Parquet("a.parquet", {{"n", arrow::int64(), "[1]"}});
  const std::string b = Parquet("b.parquet", {{"n", arrow::utf8(), "[\"x\"]"}});
  EXPECT_THAT(Failure({a, b}),
              HasSubstr("b.parquet: column 'n' is of type string, and in "
                        "a file before it long"));
  EXPECT_THAT(Failure({Parquet("c.parquet", {{"n", arrow::uint64(), "[1]"}})}),
              HasSubstr("c.parquet: column 'n' (declare it with --schema: as decimal"));
  EXPECT_THAT(Failure({Parquet("d.parquet", {{"n", arrow::int64(), "[1]"},
                                             {"N", arrow::int64(), "[1]"}})}),
              HasSubstr("'n' and 'N' differ only in case"));
  const auto place = arrow::struct_(
      {arrow::field("x", arrow::int64()), arrow::field("X", arrow::int64())});
  EXPECT_THAT(Failure({Parquet("places.parquet", {{"at", arrow::list(place), "[[]]"}})}),
              HasSubstr("column 'at': column 'element': the columns 'x' and 'X' differ "
                        "only in case"));
  EXPECT_THAT(Failure({"-"}), HasSubstr("can be read only once"));
  EXPECT_THAT(Failure({folder_.Write("e.json", "\n")}), HasSubstr("no record"));
}

TEST_F(InferSchemaTest, StopsOnRequest) {
  StopSource stop;
  stop.RequestStop();
  const auto inferred = InferSchema({folder_.Write("a.csv", "n\n1\n")}, {}, stop.token(),
                                    [](auto, auto) {});
  EXPECT_TRUE(IsError(inferred.status(), ErrorKind::kCancelled));
}

}  // namespace
}  // namespace firn::sources
