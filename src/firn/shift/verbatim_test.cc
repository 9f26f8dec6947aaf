#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/table_shift.h"
#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

constexpr const char* kSource = "load:x:0";

/// Enough for a row group to be worth copying.
constexpr std::int64_t kWellSized = 70'000;

std::vector<TestRow> Tens(std::int64_t first, std::int64_t count) {
  std::vector<TestRow> rows = NumberedRows(first, count);
  for (TestRow& row : rows) row.key = fmt::format("{:09}", row.number * 10);
  return rows;
}

/// Two runs far from each other.
void WriteTwo(TestWarehouse& warehouse) {
  warehouse.Write(NumberedRows(0, kWellSized));
  warehouse.Write(NumberedRows(10 * kWellSized, kWellSized));
}

TEST(VerbatimTest, DisjointWellSizedRowGroupsAreCopied) {
  TestWarehouse warehouse;
  WriteTwo(warehouse);
  const ShiftReport report = warehouse.Shift();
  EXPECT_GT(report.figures.verbatim_bytes, 0);
  EXPECT_EQ(report.figures.verbatim_bytes, report.figures.input_bytes);
  ASSERT_EQ(warehouse.DataFiles().size(), 1U);
  EXPECT_EQ(warehouse.DataFiles()[0].split_offsets.size(), 2U);
  warehouse.ExpectWellShaped();
}

TEST(VerbatimTest, ACopyIsWhatReEncodingWouldBe) {
  TestWarehouse copied;
  TestWarehouse encoded(
      {.properties = {{"write.parquet.compression-codec", "snappy"},
                      {"write.parquet.row-group-size-bytes", "300000"}}});
  for (TestWarehouse* warehouse : {&copied, &encoded}) WriteTwo(*warehouse);
  EXPECT_GT(copied.Shift().figures.verbatim_bytes, 0);
  EXPECT_EQ(encoded.Shift().figures.verbatim_bytes, 0);
  EXPECT_TRUE(copied.FileRows() == encoded.FileRows());
  const iceberg::DataFile a = copied.DataFiles().at(0);
  const iceberg::DataFile b = encoded.DataFiles().at(0);
  EXPECT_EQ(a.record_count, b.record_count);
  EXPECT_EQ(a.value_counts, b.value_counts);
  EXPECT_EQ(a.null_value_counts, b.null_value_counts);
  EXPECT_EQ(a.nan_value_counts, b.nan_value_counts);
  EXPECT_EQ(a.lower_bounds, b.lower_bounds);
  EXPECT_EQ(a.upper_bounds, b.upper_bounds);
}

TEST(VerbatimTest, CopiedAndMergedRowGroupsShareAFile) {
  TestWarehouse warehouse;
  warehouse.Write(NumberedRows(0, 10));
  warehouse.Write(NumberedRows(1000, kWellSized));
  warehouse.Write(NumberedRows(10 * kWellSized, 10));
  warehouse.Write(NumberedRows(10 * kWellSized + 5, 10));
  const ShiftReport report = warehouse.Shift();
  EXPECT_GT(report.figures.verbatim_bytes, 0);
  EXPECT_EQ(report.figures.files(), 1);
  warehouse.ExpectWellShaped();
}

struct NotCopied {
  std::string name;
  std::function<void(TestWarehouse&)> write;
  TestLayout layout = {};
};

class NotCopiedTest : public testing::TestWithParam<NotCopied> {};

TEST_P(NotCopiedTest, IsReEncoded) {
  TestWarehouse warehouse(GetParam().layout);
  GetParam().write(warehouse);
  EXPECT_EQ(warehouse.Shift().figures.verbatim_bytes, 0);
  warehouse.ExpectWellShaped();
}

void AddColumn(TestWarehouse& warehouse) {
  warehouse.Change(
      {iceberg::AddSchema{warehouse.SchemaWith([](types::Schema& schema) {
         schema.fields.push_back(
             {.id = 4, .name = "extra", .type = types::Type(types::TypeKind::kString)});
       })},
       iceberg::SetCurrentSchema{}});
}

INSTANTIATE_TEST_SUITE_P(
    Verbatim, NotCopiedTest,
    testing::Values(
        NotCopied{"Overlapping",
                  [](TestWarehouse& warehouse) {
                    warehouse.Write(Tens(0, kWellSized));
                    warehouse.Write(NumberedRows(10 * kWellSized - 11, kWellSized));
                  }},
        NotCopied{"TouchingItsNeighbour",
                  [](TestWarehouse& warehouse) {
                    std::vector<TestRow> rows = NumberedRows(0, kWellSized);
                    warehouse.Write(rows);
                    for (TestRow& row : rows)
                      row.key = "0000" + std::to_string(kWellSized - 1);
                    warehouse.Write(rows);
                  }},
        NotCopied{"Sliced",
                  [](TestWarehouse& warehouse) {
                    auto& limits = warehouse.options().iteration.limits;
                    limits.lower_bound_input_bytes_per_task = 10'000;
                    limits.upper_bound_input_bytes_per_task = 20'000;
                    warehouse.Write(NumberedRows(0, kWellSized));
                  }},
        NotCopied{"Trimmed",
                  [](TestWarehouse& warehouse) {
                    warehouse.WriteParts(
                        {{wal::SourceRange{kSource, 0, 10}, NumberedRows(0, 10)}});
                    warehouse.Shift();
                    warehouse.OpenShard();
                    warehouse.WriteParts({{wal::SourceRange{kSource, 1, kWellSized},
                                           NumberedRows(1, kWellSized - 1)}});
                  }},
        NotCopied{"OfAnotherCodec",
                  WriteTwo,
                  {.properties = {{"write.parquet.compression-codec", "gzip"}}}},
        NotCopied{"WithMetricsOfItsOwn",
                  WriteTwo,
                  {.properties = {{"write.metadata.metrics.default", "full"}}}},
        NotCopied{
            "WithoutTheBloomFilterOfTheTable",
            WriteTwo,
            {.properties = {{"write.parquet.bloom-filter-enabled.column.key", "true"}}}},
        NotCopied{"OfAnOlderSchema",
                  [](TestWarehouse& warehouse) {
                    WriteTwo(warehouse);
                    AddColumn(warehouse);
                  }},
        NotCopied{
            "Small",
            [](TestWarehouse& warehouse) { warehouse.Write(NumberedRows(0, 60'000)); }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace firn::shift
