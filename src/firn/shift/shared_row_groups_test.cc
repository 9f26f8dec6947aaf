#include "firn/shift/shared_row_groups.h"

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/storage/memory_store.h"
#include "firn/types/arrow_types.h"

namespace firn::shift {
namespace {

constexpr std::int64_t kRows = 1000;
constexpr std::int64_t kBatchRows = 64;

/// One row group, whose rows are the numbers from 0.
class SharedRowGroupsTest : public testing::Test {
 protected:
  SharedRowGroupsTest() {
    arrow::Int64Builder numbers;
    for (std::int64_t i = 0; i < kRows; ++i) EXPECT_TRUE(numbers.Append(i).ok());
    auto writer = parquet_io::FileWriter::Make(schema_, {}).ValueOrDie();
    EXPECT_TRUE(
        writer
            ->Write(*arrow::RecordBatch::Make(types::ToArrowSchema(schema_), kRows,
                                              {numbers.Finish().ValueOrDie()}))
            .ok());
    const auto file = writer->Finish({}).ValueOrDie();
    EXPECT_TRUE(store_.PutWhole("file", std::string_view(*file.bytes)).ok());
    source_ = {
        .file = parquet_io::OpenObject(store_, "file", file.bytes->size()),
        .footer =
            parquet_io::ReadFooter(store_, "file", file.bytes->size()).ValueOrDie()};
  }

  std::unique_ptr<arrow::RecordBatchReader> Open(std::int64_t first, std::int64_t count,
                                                 std::uint32_t segment = 0) {
    return shared_
        .Read({segment, 0}, source_, schema_,
              {.first = first, .count = count, .row_group_rows = kRows}, kBatchRows)
        .ValueOrDie();
  }

  static void ExpectRows(arrow::RecordBatchReader& reader, std::int64_t first,
                         std::int64_t count) {
    for (const auto& batch : reader.ToRecordBatches().ValueOrDie()) {
      ASSERT_LE(batch->num_rows(), kBatchRows);
      const auto& numbers = static_cast<const arrow::Int64Array&>(*batch->column(0));
      for (std::int64_t i = 0; i < batch->num_rows(); ++i, ++first, --count) {
        ASSERT_EQ(numbers.Value(i), first);
      }
    }
    EXPECT_EQ(count, 0);
  }

  void ExpectRead(std::int64_t first, std::int64_t count) {
    ExpectRows(*Open(first, count), first, count);
  }

  const types::Schema schema_ = {
      .fields = {
          {.id = 1, .name = "number", .type = types::Type(types::TypeKind::kLong)}}};
  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
  parquet_io::RowGroupSource source_;
  SharedRowGroups shared_;
};

TEST_F(SharedRowGroupsTest, RunsInOrderAreReadByOneReader) {
  ExpectRead(0, 10);
  ExpectRead(10, 300);
  ExpectRead(310, 1);
  ExpectRead(500, 500);
  EXPECT_EQ(shared_.opened(), 1);
}

TEST_F(SharedRowGroupsTest, GoesBackByOpeningAgain) {
  ExpectRead(500, 10);
  ExpectRead(20, 10);
  ExpectRead(30, 10);
  EXPECT_EQ(shared_.opened(), 2);
}

TEST_F(SharedRowGroupsTest, AReaderThatStoppedEarlyIsContinuedWhereItStopped) {
  {
    const auto reader = Open(0, 200);
    std::shared_ptr<arrow::RecordBatch> batch;
    ASSERT_TRUE(reader->ReadNext(&batch).ok());
  }
  ExpectRead(200, 20);
  EXPECT_EQ(shared_.opened(), 1);
}

TEST_F(SharedRowGroupsTest, TwoRunsOfOneRowGroupMayBeOpenAtOnce) {
  const auto first = Open(0, 100);
  const auto second = Open(100, 100);
  ExpectRows(*second, 100, 100);
  ExpectRows(*first, 0, 100);
}

TEST_F(SharedRowGroupsTest, RowGroupsDoNotMixUp) {
  ExpectRows(*Open(100, 50, 1), 100, 50);
  ExpectRows(*Open(0, 50, 2), 0, 50);
  ExpectRows(*Open(150, 50, 1), 150, 50);
  ExpectRows(*Open(50, 50, 2), 50, 50);
  EXPECT_EQ(shared_.opened(), 2);
}

}  // namespace
}  // namespace firn::shift
