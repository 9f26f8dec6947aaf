#include "firn/wal/sorted_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "firn/types/arrow_types.h"
#include "firn/wal/row_bytes.h"

namespace firn::wal {
namespace {

Result<std::shared_ptr<arrow::Array>> SourceColumn(const SegmentRows& rows) {
  const std::int64_t count = rows.rows->num_rows();
  if (!rows.source) return arrow::MakeArrayOfNull(arrow::int32(), count);
  return arrow::MakeArrayFromScalar(arrow::Int32Scalar(*rows.source), count);
}

Result<std::shared_ptr<arrow::Array>> OffsetColumn(const SegmentRows& rows) {
  const std::int64_t count = rows.rows->num_rows();
  if (!rows.source) return arrow::MakeArrayOfNull(arrow::int64(), count);
  if (rows.offsets != nullptr && rows.offsets->length() == count) return rows.offsets;
  return InvalidError("{} rows of a source need as many offsets", count);
}

/// The columns of one batch as they stand in the file.
Result<arrow::ArrayVector> FileColumns(const SegmentRows& rows) {
  arrow::ArrayVector columns = rows.rows->columns();
  FIRN_ASSIGN_OR_RETURN(auto source, SourceColumn(rows));
  FIRN_ASSIGN_OR_RETURN(auto offset, OffsetColumn(rows));
  columns.push_back(std::move(source));
  columns.push_back(std::move(offset));
  return columns;
}

Result<std::shared_ptr<arrow::RecordBatch>> Concatenate(
    const std::shared_ptr<arrow::Schema>& file_schema,
    const std::vector<SegmentRows>& rows) {
  std::vector<arrow::ArrayVector> chunks(
      static_cast<std::size_t>(file_schema->num_fields()));
  std::int64_t count = 0;
  for (const SegmentRows& batch : rows) {
    FIRN_ASSIGN_OR_RETURN(arrow::ArrayVector columns, FileColumns(batch));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      chunks[i].push_back(std::move(columns[i]));
    }
    count += batch.rows->num_rows();
  }
  arrow::ArrayVector columns;
  for (const arrow::ArrayVector& chunk : chunks) {
    FIRN_ASSIGN_OR_RETURN(auto column, arrow::Concatenate(chunk));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(file_schema, count, std::move(columns));
}

/// The partitions of some rows, numbered in the order of their tuples.
struct PartitionNumbers {
  std::vector<std::string_view> keys;
  std::vector<std::uint32_t> of_row;
};

PartitionNumbers NumberPartitions(const order::EncodedKeys& partition_keys) {
  std::unordered_map<std::string_view, std::uint32_t> seen;
  PartitionNumbers numbers;
  for (std::int64_t row = 0; row < partition_keys.size(); ++row) {
    const std::string_view key = partition_keys[row];
    const auto [found, is_new] =
        seen.emplace(key, static_cast<std::uint32_t>(numbers.keys.size()));
    if (is_new) numbers.keys.push_back(key);
    numbers.of_row.push_back(found->second);
  }
  std::ranges::sort(numbers.keys);
  std::vector<std::uint32_t> rank(numbers.keys.size());
  for (std::size_t i = 0; i < numbers.keys.size(); ++i) {
    rank[seen[numbers.keys[i]]] = static_cast<std::uint32_t>(i);
  }
  for (std::uint32_t& number : numbers.of_row) number = rank[number];
  return numbers;
}

struct SortEntry {
  std::uint32_t partition = 0;
  /// The first bytes of the key, so that most comparisons touch nothing else.
  std::uint64_t prefix = 0;
  std::int64_t row = 0;
};

std::uint64_t KeyPrefix(std::string_view key) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < sizeof prefix; ++i) {
    const unsigned byte = i < key.size() ? static_cast<unsigned char>(key[i]) : 0;
    prefix = prefix << 8 | byte;
  }
  return prefix;
}

std::vector<std::int64_t> SortedOrder(const PartitionNumbers& partitions,
                                      const order::EncodedKeys& keys) {
  std::vector<SortEntry> entries;
  for (std::int64_t row = 0; row < keys.size(); ++row) {
    entries.push_back({.partition = partitions.of_row[static_cast<std::size_t>(row)],
                       .prefix = KeyPrefix(keys[row]),
                       .row = row});
  }
  std::ranges::stable_sort(entries, [&](const SortEntry& a, const SortEntry& b) {
    if (a.partition != b.partition) return a.partition < b.partition;
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return keys[a.row] < keys[b.row];
  });
  std::vector<std::int64_t> order;
  for (const SortEntry& entry : entries) order.push_back(entry.row);
  return order;
}

Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(
    const std::shared_ptr<arrow::RecordBatch>& batch,
    const std::vector<std::int64_t>& order) {
  if (std::ranges::is_sorted(order)) return batch;
  const auto indices = std::make_shared<arrow::Int64Array>(
      static_cast<std::int64_t>(order.size()), arrow::Buffer::Wrap(order));
  FIRN_ASSIGN_OR_RETURN(
      const arrow::Datum taken,
      arrow::compute::Take(batch, indices, arrow::compute::TakeOptions::NoBoundsCheck()));
  return taken.record_batch();
}

Result<std::vector<PartitionRows>> PartitionsOf(const TableLayout& layout,
                                                const PartitionNumbers& numbers) {
  FIRN_ASSIGN_OR_RETURN(const auto types,
                        types::PartitionTypes(layout.spec, layout.schema));
  const order::KeyEncoder encoder(order::PartitionKeyColumns(types));
  std::vector<PartitionRows> partitions;
  for (const std::string_view key : numbers.keys) {
    FIRN_ASSIGN_OR_RETURN(types::PartitionTuple tuple, encoder.Decode(key));
    partitions.push_back({.tuple = std::move(tuple)});
  }
  for (const std::uint32_t number : numbers.of_row) ++partitions[number].rows;
  std::int64_t first_row = 0;
  for (PartitionRows& partition : partitions) {
    partition.first_row = first_row;
    first_row += partition.rows;
  }
  return partitions;
}

std::shared_ptr<arrow::RecordBatch> TableColumns(const TableLayout& layout,
                                                 const arrow::RecordBatch& batch) {
  arrow::ArrayVector columns = batch.columns();
  columns.resize(layout.schema.fields.size());
  return arrow::RecordBatch::Make(types::ToArrowSchema(layout.schema), batch.num_rows(),
                                  std::move(columns));
}

}  // namespace

Result<SortedRows> SortRows(const TableLayout& layout,
                            const order::SortOrder& partition_order,
                            const std::shared_ptr<arrow::Schema>& file_schema,
                            const std::vector<SegmentRows>& rows) {
  for (const SegmentRows& batch : rows) {
    FIRN_RETURN_NOT_OK(CheckRows(layout.schema, *batch.rows));
  }
  FIRN_ASSIGN_OR_RETURN(auto batch, Concatenate(file_schema, rows));
  const auto table_columns = TableColumns(layout, *batch);
  SortedRows sorted;
  FIRN_ASSIGN_OR_RETURN(sorted.keys,
                        order::EncodeKeys(layout.order, layout.schema, *table_columns));
  FIRN_ASSIGN_OR_RETURN(
      const auto partition_keys,
      order::EncodeKeys(partition_order, layout.schema, *table_columns));
  const PartitionNumbers numbers = NumberPartitions(partition_keys);
  FIRN_ASSIGN_OR_RETURN(sorted.partitions, PartitionsOf(layout, numbers));
  sorted.order = SortedOrder(numbers, sorted.keys);
  FIRN_ASSIGN_OR_RETURN(sorted.batch, TakeRows(batch, sorted.order));
  sorted.row_bytes = CumulativeRowBytes(*TableColumns(layout, *sorted.batch));
  return sorted;
}

}  // namespace firn::wal
