#include <random>

#include <gmock/gmock.h>

#include <arrow/builder.h>
#include <arrow/table_builder.h>

#include "firn/parquet_io/parquet_fixture.h"
#include "firn/types/arrow_types.h"

namespace firn::parquet_io {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using types::Type;
using types::TypeKind;

/// Log-like rows: a number that grows, a few services, a text that repeats in part, and
/// one that does not.
class LogRows {
 public:
  types::Schema schema() const {
    return SchemaOf(
        {Required(1, "ts", Type(TypeKind::kTimestamptz)),
         Required(2, "service", Type(TypeKind::kString)),
         Optional(3, "body", Type(TypeKind::kString)),
         Required(4, "trace", Type(TypeKind::kUuid)),
         Optional(5, "tags",
                  Type::List(Required(6, "element", Type(TypeKind::kString))))});
  }

  Batch Next(std::int64_t rows) {
    const auto arrow_schema = types::ToArrowSchema(schema());
    auto batch =
        arrow::RecordBatchBuilder::Make(arrow_schema, arrow::default_memory_pool())
            .ValueOrDie();
    for (std::int64_t i = 0; i < rows; ++i) Append(*batch);
    return batch->Flush().ValueOrDie();
  }

 private:
  void Append(arrow::RecordBatchBuilder& batch) {
    ts_ += static_cast<std::int64_t>(random_() % 5000);
    EXPECT_TRUE(batch.GetFieldAs<arrow::TimestampBuilder>(0)->Append(ts_).ok());
    const std::string service = fmt::format("service-{}", random_() % 20);
    EXPECT_TRUE(batch.GetFieldAs<arrow::StringBuilder>(1)->Append(service).ok());
    const std::string body = fmt::format("request {} of user {} took {} ms", random_(),
                                         random_() % 1000, random_() % 300);
    EXPECT_TRUE(batch.GetFieldAs<arrow::StringBuilder>(2)->Append(body).ok());
    const std::uint64_t trace[] = {random_(), random_()};
    EXPECT_TRUE(batch.GetFieldAs<arrow::FixedSizeBinaryBuilder>(3)
                    ->Append(reinterpret_cast<const std::uint8_t*>(trace))
                    .ok());
    auto* tags = batch.GetFieldAs<arrow::ListBuilder>(4);
    EXPECT_TRUE(tags->Append().ok());
    EXPECT_TRUE(
        static_cast<arrow::StringBuilder*>(tags->value_builder())->Append(service).ok());
  }

  std::mt19937_64 random_{TestSeed()};
  std::int64_t ts_ = 1'700'000'000'000'000;
};

class RowGroupSizeTest : public ParquetFixture {
 protected:
  /// Bytes of the row groups but the last, as shares of the target.
  std::vector<double> Shares(const std::vector<Batch>& batches, std::int64_t target) {
    const WrittenFile file =
        WriteFile(rows_.schema(), batches, {.row_group_bytes = target});
    std::vector<double> shares;
    for (std::size_t i = 0; i + 1 < file.row_groups.size(); ++i) {
      shares.push_back(static_cast<double>(file.row_groups[i].bytes) /
                       static_cast<double>(target));
    }
    return shares;
  }

  LogRows rows_;
};

const auto kNearTarget = Each(AllOf(Ge(0.8), Le(1.2)));

TEST_F(RowGroupSizeTest, OneLargeBatchIsCutNearTheTarget) {
  const Batch rows = rows_.Next(120'000);
  for (const std::int64_t target : {32 << 10, 200 << 10, 1 << 20, 2 << 20}) {
    const std::vector<double> shares = Shares({rows}, target);
    EXPECT_GE(shares.size(), 2U) << target;
    EXPECT_THAT(shares, kNearTarget) << target;
  }
}

TEST_F(RowGroupSizeTest, SmallBatchesEndNearTheTarget) {
  std::vector<Batch> batches;
  for (int i = 0; i < 600; ++i) batches.push_back(rows_.Next(50));
  EXPECT_THAT(Shares(batches, 100 << 10), AllOf(Not(IsEmpty()), kNearTarget));
}

TEST_F(RowGroupSizeTest, EstimateOfBytesIsNearTheFile) {
  for (const int batches : {1, 4, 20}) {
    const auto writer =
        FileWriter::Make(rows_.schema(), {.row_group_bytes = 1 << 20}).ValueOrDie();
    std::int64_t estimate = writer->bytes_estimate();
    for (int i = 0; i < batches; ++i) {
      ASSERT_TRUE(writer->Write(*rows_.Next(2000)).ok());
      const std::int64_t next = writer->bytes_estimate();
      EXPECT_GT(next, estimate);
      estimate = next;
    }
    const auto bytes = static_cast<double>(writer->Finish({}).ValueOrDie().bytes->size());
    EXPECT_NEAR(static_cast<double>(estimate), bytes, 0.1 * bytes);
  }
}

TEST_F(RowGroupSizeTest, RowGroupsEndWhenTold) {
  const auto writer = FileWriter::Make(rows_.schema(), {}).ValueOrDie();
  for (const std::int64_t rows : {10, 20}) {
    ASSERT_TRUE(writer->Write(*rows_.Next(rows)).ok());
    ASSERT_TRUE(writer->EndRowGroup().ok());
    ASSERT_TRUE(writer->EndRowGroup().ok());
  }
  const auto file = writer->Finish({}).ValueOrDie();
  ASSERT_EQ(file.row_groups.size(), 2U);
  EXPECT_EQ(file.row_groups[0].rows, 10);
  EXPECT_EQ(file.row_groups[0].offset, 4);
  EXPECT_EQ(file.row_groups[1].rows, 20);
  EXPECT_EQ(file.row_groups[1].offset, 4 + file.row_groups[0].bytes);
}

}  // namespace
}  // namespace firn::parquet_io
