#include "firn/sources/files/file_source.h"

#include "firn/sources/files/record_format.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/files/test_folder.h"
#include "firn/sources/files/test_parquet.h"
#include "firn/wal/load_manifest.h"

namespace firn::sources {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

types::Schema OneNumber() {
  return {
      .fields = {{.id = 1, .name = "n", .type = types::Type(types::TypeKind::kLong)}}};
}

class FileSourceTest : public testing::Test {
 protected:
  FileLoad LoadOf(std::vector<std::string> files) {
    return {.table = "db.t",
            .load_id = "L",
            .files = std::move(files),
            .schema = OneNumber()};
  }

  Result<std::vector<SourceBatch>> Read(FileLoad load) {
    FIRN_ASSIGN_OR_RETURN(const auto source, FileSource::Make(std::move(load)));
    std::vector<SourceBatch> batches;
    while (true) {
      FIRN_ASSIGN_OR_RETURN(auto batch, source->Next(StopToken()));
      progress_ = source->progress();
      if (!batch) return batches;
      EXPECT_EQ(batch->table, "db.t");
      batches.push_back(*std::move(batch));
    }
  }

  /// "source [first, next) rows/dead letters" each.
  std::vector<std::string> Ranges(FileLoad load) {
    std::vector<std::string> ranges;
    for (const SourceBatch& batch : Read(std::move(load)).ValueOrDie()) {
      const wal::SourceRange& range = *batch.delivery.range;
      const auto& rows = batch.delivery.rows;
      ranges.push_back(fmt::format("{} [{}, {}) {}/{}", range.source, range.first,
                                   range.next, rows == nullptr ? 0 : rows->num_rows(),
                                   batch.dead_letters.size()));
    }
    return ranges;
  }

  TestFolder folder_;
  FileProgress progress_;
};

TEST_F(FileSourceTest, FilesAreReadOneAfterTheOther) {
  const std::string a = folder_.Write("a.csv", "n\n1\n2\n");
  const std::string b = folder_.Write("b.json", "{\"n\":3}\n");
  EXPECT_THAT(Ranges(LoadOf({a, b})),
              ElementsAre(wal::LoadSourceId("L", 0) + " [0, 2) 2/0",
                          wal::LoadSourceId("L", 1) + " [0, 1) 1/0"));
  EXPECT_EQ(progress_.bytes_read, 14);
  EXPECT_EQ(progress_.bytes_total, 14);
}

TEST_F(FileSourceTest, RecordsThatAreDurableAreNotReadAgain) {
  FileLoad load =
      LoadOf({folder_.Write("a.csv", "n\n1\n"), folder_.Write("b.csv", "n\n1\n2\n3\n")});
  load.first_records = {{0, 1}, {1, 2}};
  EXPECT_THAT(Ranges(std::move(load)),
              ElementsAre(wal::LoadSourceId("L", 1) + " [2, 3) 1/0"));
}

TEST_F(FileSourceTest, AFileWithFewerRecordsThanAreDurableIsAnother) {
  const std::string parquet = folder_.path() + "/a.parquet";
  WriteParquet(parquet, *BatchOf({{"n", arrow::int64(), "[1, 2]"}}), 1);
  for (const std::string& path :
       {folder_.Write("a.csv", "n\n1\nx\n"), folder_.Write("a.json", "{\"n\":1}\n\nno\n"),
        parquet}) {
    FileLoad load = LoadOf({path});
    load.first_records = {{0, 2}};
    EXPECT_THAT(Ranges(load), ElementsAre());
    load.first_records = {{0, 3}};
    EXPECT_THAT(ErrorText(Read(load).status()),
                AllOf(HasSubstr(path + ": is not what load L was begun with"),
                      HasSubstr("(it has 2 of 3)")));
  }
}

TEST_F(FileSourceTest, RecordsThatDoNotFitAreDeadLetters) {
  const std::string path = folder_.Write("a.csv", "n\n1\nx\n3\n");
  const auto batches = Read(LoadOf({path})).ValueOrDie();
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].dead_letters.size(), 1u);
  const DeadLetter& letter = batches[0].dead_letters[0];
  EXPECT_EQ(letter, (DeadLetter{.raw = "x",
                                .source = path,
                                .position = 1,
                                .reason = "line 3: column 'n': 'x' is not of type long",
                                .offset = 1,
                                .format = letter.format}));
  EXPECT_EQ(ParseRecordFormat(*letter.format).ValueOrDie().columns,
            std::vector<std::string>{"n"});
  EXPECT_EQ(DeadLetterText(letter),
            path + ": line 3: column 'n': 'x' is not of type long");
  const auto& offsets = *batches[0].delivery.offsets;
  ASSERT_EQ(offsets.length(), 2);
  EXPECT_EQ(offsets.Value(0), 0);
  EXPECT_EQ(offsets.Value(1), 2);
}

TEST_F(FileSourceTest, NamesThatAreNotUtf8AreShownInAscii) {
  const auto batches = Read(LoadOf({folder_.Write("a\xff\xc3\xa4.csv", "n\nx\n"),
                                    folder_.Write("\xc3\xa4.csv", "n\nx\n")}))
                           .ValueOrDie();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].dead_letters[0].source, folder_.path() + "/a\\xff\\xc3\\xa4.csv");
  EXPECT_EQ(batches[1].dead_letters[0].source, folder_.path() + "/\xc3\xa4.csv");
}

TEST_F(FileSourceTest, RangeAdvancesWithoutAnyRow) {
  const auto batches = Read(LoadOf({folder_.Write("a.csv", "n\nx\ny\n")})).ValueOrDie();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].delivery.rows, nullptr);
  EXPECT_EQ(batches[0].delivery.offsets, nullptr);
  EXPECT_EQ(batches[0].delivery.range->next, 2);
  EXPECT_EQ(batches[0].dead_letters.size(), 2u);
}

TEST_F(FileSourceTest, UnitsMustBeOfTimestamps) {
  FileLoad load = LoadOf({});
  load.options.time_units = {{"n", TimeUnit::kSeconds}};
  EXPECT_THAT(ErrorText(FileSource::Make(std::move(load)).status()),
              HasSubstr("'n' is of type long"));
}

TEST_F(FileSourceTest, StopsOnRequest) {
  const auto source =
      FileSource::Make(LoadOf({folder_.Write("a.csv", "n\n1\n")})).ValueOrDie();
  StopSource stop;
  stop.RequestStop();
  EXPECT_TRUE(IsError(source->Next(stop.token()).status(), ErrorKind::kCancelled));
}

}  // namespace
}  // namespace firn::sources
