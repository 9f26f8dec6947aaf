#include "firn/sources/letter_source.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/dead_letters.h"
#include "firn/sources/files/file_source.h"
#include "firn/sources/files/test_folder.h"
#include "firn/sources/files/unknown_fields.h"
#include "firn/types/arrow_types.h"

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using types::Type;
using types::TypeKind;

types::Schema SchemaOf(std::vector<std::pair<std::string, TypeKind>> columns) {
  types::Schema schema;
  for (auto& [name, kind] : columns) {
    schema.fields.push_back({.name = name, .type = Type(kind)});
  }
  return types::AssignFreshIds(std::move(schema));
}

class LetterSourceTest : public testing::Test {
 protected:
  /// The dead letters of a file that is loaded with this schema, as their table's rows.
  std::shared_ptr<arrow::RecordBatch> LettersIn(const std::string& path,
                                                types::Schema schema,
                                                FileOptions options = {}) {
    const auto source = FileSource::Make({.table = "db.t",
                                          .load_id = "L",
                                          .files = {path},
                                          .schema = std::move(schema),
                                          .options = std::move(options)})
                            .ValueOrDie();
    const auto batch = source->Next(StopToken()).ValueOrDie();
    return DeadLetterDelivery(*batch, DeadLetterSchema(), WallTime()).ValueOrDie().rows;
  }

  /// All batches of a replay of `letters`.
  std::vector<SourceBatch> Replay(const std::shared_ptr<arrow::RecordBatch>& letters,
                                  types::Schema schema, std::int64_t first = 0,
                                  std::string unknown_fields_column = "") {
    LetterSource source(
        "db.t", LetterReader(std::move(schema), std::move(unknown_fields_column)),
        {{.source_id = "S",
          .first_record = first,
          .open = [&]() -> Result<std::unique_ptr<arrow::RecordBatchReader>> {
            return std::make_unique<OneBatch>(letters);
          }}});
    std::vector<SourceBatch> batches;
    while (auto batch = source.Next(StopToken()).ValueOrDie()) {
      batches.push_back(*std::move(batch));
    }
    return batches;
  }

  TestFolder folder_;

 private:
  class OneBatch : public arrow::RecordBatchReader {
   public:
    explicit OneBatch(std::shared_ptr<arrow::RecordBatch> rows)
        : rows_(std::move(rows)) {}
    std::shared_ptr<arrow::Schema> schema() const override {
      return types::ToArrowSchema(DeadLetterSchema());
    }
    Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
      *batch = std::exchange(rows_, nullptr);
      return Status::OK();
    }

   private:
    std::shared_ptr<arrow::RecordBatch> rows_;
  };
};

const types::Schema kLong = SchemaOf({{"n", TypeKind::kLong}, {"t", TypeKind::kString}});
const types::Schema kText =
    SchemaOf({{"n", TypeKind::kString}, {"t", TypeKind::kString}});

TEST_F(LetterSourceTest, WhatFitsNowIsARowTheRestStaysALetter) {
  const std::string path = folder_.Write("a.csv", "n,t\nx,\"a\"\"b\"\n1\n2,c\n");
  const auto letters = LettersIn(path, kLong);
  ASSERT_EQ(letters->num_rows(), 2);
  const auto batches = Replay(letters, kText);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(*batches[0].delivery.range, (wal::SourceRange{"S", 0, 2}));
  ASSERT_EQ(batches[0].delivery.rows->num_rows(), 1);
  const auto& column =
      static_cast<const arrow::StringArray&>(*batches[0].delivery.rows->column(1));
  EXPECT_EQ(column.GetView(0), "a\"b");
  EXPECT_EQ(batches[0].delivery.offsets->Value(0), 0);
  ASSERT_EQ(batches[0].dead_letters.size(), 1u);
  const DeadLetter& letter = batches[0].dead_letters[0];
  EXPECT_EQ(letter.raw, "1");
  EXPECT_EQ(letter.source, path);
  EXPECT_EQ(letter.position, 1);
  EXPECT_EQ(letter.offset, 1);
  EXPECT_THAT(letter.reason, testing::StartsWith("line 3: 1 value"));
}

TEST_F(LetterSourceTest, RecordsThatAreDurableAreNotTriedAgain) {
  const auto letters = LettersIn(folder_.Write("a.csv", "n,t\nx,1\ny,2\nz,3\n"), kLong);
  const auto batches = Replay(letters, kText, 2);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(*batches[0].delivery.range, (wal::SourceRange{"S", 2, 3}));
  EXPECT_TRUE(Replay(letters, kText, 3).empty());
}

TEST_F(LetterSourceTest, RecordsAreReadAsTheirFileWas) {
  FileOptions options = {.format = FileFormat::kCsv,
                         .time_units = {{"at", TimeUnit::kMilliseconds}}};
  options.csv = {.delimiter = ';', .has_header = false, .null_spellings = {"", "NA"}};
  const auto narrow = SchemaOf({{"n", TypeKind::kInt}, {"at", TypeKind::kTimestamptz}});
  const auto wide = SchemaOf({{"at", TypeKind::kTimestamptz}, {"n", TypeKind::kLong}});
  const auto letters = LettersIn(
      folder_.Write("a.txt", "3000000000;1000\n3000000001;NA\n"), narrow, options);
  ASSERT_EQ(letters->num_rows(), 2);
  const auto rows = Replay(letters, wide)[0].delivery.rows;
  ASSERT_EQ(rows->num_rows(), 2);
  EXPECT_EQ(rows->column(0)->ToString(), "[\n  1970-01-01 00:00:01.000000Z,\n  null\n]");
}

TEST_F(LetterSourceTest, NestedJsonIsReadAgain) {
  const auto letters =
      LettersIn(folder_.Write("a.json", "{\"n\":1,\"new\":[1]}\nno json\n"), kLong);
  ASSERT_EQ(letters->num_rows(), 2);
  types::Schema schema = kLong;
  schema.fields.push_back(
      {.id = 9,
       .name = "new",
       .type = Type::List({.id = 10, .name = "element", .type = Type(TypeKind::kLong)})});
  const auto batches = Replay(letters, schema);
  EXPECT_EQ(batches[0].delivery.rows->num_rows(), 1);
  EXPECT_EQ(batches[0].dead_letters.size(), 1u);
}

TEST_F(LetterSourceTest, AColumnThatIsGoneIsTheRecordsFault) {
  const auto letters = LettersIn(folder_.Write("a.csv", "n,t\nx,1\n"), kLong);
  const auto batches = Replay(letters, SchemaOf({{"n", TypeKind::kString}}));
  EXPECT_EQ(batches[0].delivery.rows, nullptr);
  EXPECT_THAT(batches[0].dead_letters[0].reason, HasSubstr("no column 't'"));
}

TEST_F(LetterSourceTest, UnknownFieldsGoToTheColumnThatThereIsNow) {
  const auto letters = LettersIn(
      folder_.Write("a.ndjson", "{\"n\": 1, \"x\": 2}\n{\"n\": 1, \"N\": 2}\n"), kLong);
  ASSERT_EQ(letters->num_rows(), 2);
  const types::Schema schema = WithUnknownFieldsColumn(kLong, "rest").ValueOrDie();
  EXPECT_EQ(Replay(letters, schema)[0].delivery.rows, nullptr);
  const auto batches = Replay(letters, schema, 0, "rest");
  ASSERT_EQ(batches[0].delivery.rows->num_rows(), 1);
  EXPECT_EQ(batches[0].delivery.rows->column(2)->GetScalar(0).ValueOrDie()->ToString(),
            "map<string, string>[{key:string = x, value:string = 2}]");
  EXPECT_THAT(batches[0].dead_letters[0].reason, HasSubstr("written 'n'"));
}

TEST_F(LetterSourceTest, AFormatThatCannotBeReadIsTheRecordsFault) {
  auto letters = LettersIn(folder_.Write("a.csv", "n,t\nx,1\ny,2\nz,3\n"), kLong);
  const std::string good(
      static_cast<const arrow::StringArray&>(*letters->column(5)).GetView(0));
  arrow::StringBuilder formats;
  ASSERT_TRUE(formats.AppendValues({good, "no", good}).ok());
  letters =
      letters->SetColumn(5, letters->schema()->field(5), *formats.Finish()).ValueOrDie();
  const auto batches = Replay(letters, kText);
  EXPECT_EQ(batches[0].delivery.rows->num_rows(), 2);
  ASSERT_EQ(batches[0].dead_letters.size(), 1u);
  EXPECT_THAT(batches[0].dead_letters[0].reason,
              testing::StartsWith("line 3: the record's format cannot be read"));
}

TEST(RecordFormatTest, IsKeptAsText) {
  RecordFormat format = {.format = FileFormat::kCsv, .columns = {"a\"b", "ü"}};
  format.options.csv.delimiter = '\t';
  format.options.csv.null_spellings = {"", "NA"};
  format.options.time_units = {{"a.b", TimeUnit::kNanoseconds}};
  format.options.ignore_unknown = true;
  format.options.unknown_fields_column = "rest";
  const std::string text = RecordFormatText(format);
  const RecordFormat read = ParseRecordFormat(text).ValueOrDie();
  EXPECT_EQ(RecordFormatText(read), text);
  EXPECT_THAT(read.columns, ElementsAre("a\"b", "ü"));
  EXPECT_EQ(read.options.unknown_fields_column, "rest");
  EXPECT_THAT(ErrorText(ParseRecordFormat("{}").status()), HasSubstr("format"));
  EXPECT_FALSE(ParseRecordFormat("no").ok());
}

}  // namespace
}  // namespace firn::sources
