#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>

#include "firn/order/sort_order.h"
#include "firn/types/arrow_types.h"
#include "firn/types/partition_spec.h"
#include "firn/wal/segment_builder.h"

namespace firn::wal {

/// A row of the tests' table: partitioned by `tenant`, sorted by `name`.
struct TestRow {
  std::optional<std::string> tenant;
  std::string name;
  std::int64_t number = 0;

  bool operator==(const TestRow&) const = default;
};

inline types::Schema TestSchema() {
  return {.id = SchemaId(2),
          .fields = {
              {.id = 1, .name = "tenant", .type = types::Type(types::TypeKind::kString)},
              {.id = 2,
               .name = "name",
               .type = types::Type(types::TypeKind::kString),
               .required = true},
              {.id = 3, .name = "number", .type = types::Type(types::TypeKind::kLong)}}};
}

inline TableLayout TestLayout(std::string_view partition_by = "tenant",
                              std::string_view sort_by = "name") {
  const types::Schema schema = TestSchema();
  return {.uuid = TableUuid("0b6f9c1e-3c3c-4c1e-9a3e-5f2d8a1b7c60"),
          .schema = schema,
          .spec = types::ParsePartitionSpec(partition_by, schema).ValueOrDie(),
          .order = order::ParseSortOrder(sort_by, schema).ValueOrDie()};
}

inline std::shared_ptr<arrow::RecordBatch> ToBatch(const std::vector<TestRow>& rows) {
  arrow::StringBuilder tenants;
  arrow::StringBuilder names;
  arrow::Int64Builder numbers;
  for (const TestRow& row : rows) {
    FIRN_CHECK((row.tenant ? tenants.Append(*row.tenant) : tenants.AppendNull()).ok());
    FIRN_CHECK(names.Append(row.name).ok());
    FIRN_CHECK(numbers.Append(row.number).ok());
  }
  return arrow::RecordBatch::Make(
      types::ToArrowSchema(TestSchema()), static_cast<std::int64_t>(rows.size()),
      {tenants.Finish().ValueOrDie(), names.Finish().ValueOrDie(),
       numbers.Finish().ValueOrDie()});
}

inline SegmentRows WithoutSource(const std::vector<TestRow>& rows) {
  return {.rows = ToBatch(rows)};
}

/// Offsets count from `first_offset`.
inline SegmentRows FromSource(std::int32_t source, std::int64_t first_offset,
                              const std::vector<TestRow>& rows) {
  arrow::Int64Builder offsets;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    FIRN_CHECK(offsets.Append(first_offset + static_cast<std::int64_t>(i)).ok());
  }
  return {.rows = ToBatch(rows),
          .source = source,
          .offsets =
              std::static_pointer_cast<arrow::Int64Array>(offsets.Finish().ValueOrDie())};
}

}  // namespace firn::wal
