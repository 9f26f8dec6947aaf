#include "firn/parquet_io/statistics_bound.h"

#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "firn/parquet_io/column_metrics.h"
#include "firn/parquet_io/parquet_fixture.h"

namespace firn::parquet_io {
namespace {

class StatisticsBoundTest : public ParquetFixture {};

TEST_F(StatisticsBoundTest, IsTheBoundOfTheMetricsForEveryType) {
  const types::Schema schema = SchemaOf(EveryPrimitive());
  int compared = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    const Batch rows = RandomRows(schema, 1 + round % 7, TestSeed() + round);
    const FileMetrics metrics = CollectMetrics(schema, {}, *rows);
    const RowGroupSource source = Open(WriteFile(schema, {rows}));
    const auto row_group = source.footer->RowGroup(0);
    for (int i = 0; i < source.footer->num_columns(); ++i) {
      const parquet::ColumnDescriptor& column = *source.footer->schema()->Column(i);
      const auto statistics = row_group->ColumnChunk(i)->statistics();
      if (statistics == nullptr || !statistics->HasMinMax()) continue;
      const ColumnMetrics& of_column = metrics.at(column.schema_node()->field_id());
      SCOPED_TRACE(fmt::format("seed {} column {}", TestSeed(), column.name()));
      EXPECT_EQ(BoundOf(column, statistics->EncodeMin(), BoundSide::kLower),
                of_column.lower_bound);
      EXPECT_EQ(BoundOf(column, statistics->EncodeMax(), BoundSide::kUpper),
                of_column.upper_bound);
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace firn::parquet_io
