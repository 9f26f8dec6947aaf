#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "firn/order/key_cell.h"
#include "firn/order/key_encoder.h"
#include "firn/types/arrow_types.h"

namespace firn::order {
namespace {

using types::Type;
using types::TypeKind;
using types::Value;

/// The cells of one key column: those of an Arrow column, or what its transform made.
struct KeyCells {
  KeyColumn column;
  std::shared_ptr<arrow::Array> array;
  std::vector<Value> transformed;
};

template <typename ArrowArray, typename ToCell, typename Visit>
void ForEachRow(const arrow::Array& array, ToCell to_cell, Visit& visit) {
  const auto& typed = static_cast<const ArrowArray&>(array);
  for (std::int64_t row = 0; row < typed.length(); ++row) {
    if (typed.IsNull(row)) {
      visit(row, std::monostate());
    } else {
      visit(row, to_cell(typed.GetView(row)));
    }
  }
}

types::DecimalValue DecimalOf(std::string_view little_endian) {
  types::DecimalValue decimal;
  std::memcpy(&decimal.unscaled, little_endian.data(), sizeof(decimal.unscaled));
  return decimal;
}

/// Calls `visit(row, cell)` for each row of a column of type `type`.
template <typename Visit>
void ForEachArrowCell(const arrow::Array& array, const Type& type, Visit& visit) {
  const auto to_long = [](std::int64_t value) { return value; };
  const auto to_double = [](double value) { return value; };
  const auto to_bool = [](bool value) { return value; };
  const auto to_text = [](std::string_view bytes) { return Text{bytes}; };
  const auto to_raw = [](std::string_view bytes) { return RawBytes{bytes}; };
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return ForEachRow<arrow::BooleanArray>(array, to_bool, visit);
    case TypeKind::kInt:
      return ForEachRow<arrow::Int32Array>(array, to_long, visit);
    case TypeKind::kLong:
      return ForEachRow<arrow::Int64Array>(array, to_long, visit);
    case TypeKind::kDate:
      return ForEachRow<arrow::Date32Array>(array, to_long, visit);
    case TypeKind::kTime:
      return ForEachRow<arrow::Time64Array>(array, to_long, visit);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return ForEachRow<arrow::TimestampArray>(array, to_long, visit);
    case TypeKind::kFloat:
      return ForEachRow<arrow::FloatArray>(array, to_double, visit);
    case TypeKind::kDouble:
      return ForEachRow<arrow::DoubleArray>(array, to_double, visit);
    case TypeKind::kDecimal:
      return ForEachRow<arrow::Decimal128Array>(array, DecimalOf, visit);
    case TypeKind::kString:
    case TypeKind::kBinary:
      return ForEachRow<arrow::BinaryArray>(array, to_text, visit);
    default:
      return ForEachRow<arrow::FixedSizeBinaryArray>(array, to_raw, visit);
  }
}

template <typename Visit>
void ForEachCell(const KeyCells& cells, Visit visit) {
  if (cells.array != nullptr) {
    return ForEachArrowCell(*cells.array, cells.column.type, visit);
  }
  for (std::size_t row = 0; row < cells.transformed.size(); ++row) {
    VisitCell(cells.column.type, cells.transformed[row],
              [&](const auto& cell) { visit(static_cast<std::int64_t>(row), cell); });
  }
}

/// The column at `path`; a value below a null struct is null.
Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch,
                                               const std::vector<int>& path) {
  std::shared_ptr<arrow::Array> array = batch.column(path[0]);
  for (std::size_t level = 1; level < path.size(); ++level) {
    const auto& parent = static_cast<const arrow::StructArray&>(*array);
    FIRN_ASSIGN_OR_RETURN(array, parent.GetFlattenedField(path[level]));
  }
  return array;
}

std::vector<Value> Transformed(const types::Transform& transform, const Type& source,
                               const arrow::Array& array) {
  std::vector<Value> values;
  values.reserve(static_cast<std::size_t>(array.length()));
  for (std::int64_t row = 0; row < array.length(); ++row) {
    values.push_back(types::Apply(transform, source, types::ValueAt(array, source, row)));
  }
  return values;
}

Status CheckColumns(const types::Schema& schema, const arrow::RecordBatch& batch) {
  if (batch.num_columns() != static_cast<int>(schema.fields.size())) {
    return InvalidError("the batch has {} columns, its schema {}", batch.num_columns(),
                        schema.fields.size());
  }
  for (int i = 0; i < batch.num_columns(); ++i) {
    const types::Field& field = schema.fields[static_cast<std::size_t>(i)];
    const auto expected = types::ToArrowType(field.type);
    if (batch.column(i)->type()->Equals(*expected)) continue;
    return InvalidError("column '{}' is {}, its schema says {}", field.name,
                        batch.column(i)->type()->ToString(), expected->ToString());
  }
  return Status::OK();
}

/// REQUIRES: KeyEncoder::Make accepted the order.
Result<KeyCells> CellsOf(const SortField& field, const KeyColumn& column,
                         const types::Schema& schema, const arrow::RecordBatch& batch) {
  KeyCells cells = {.column = column};
  FIRN_ASSIGN_OR_RETURN(auto array,
                        ColumnAt(batch, *types::ColumnPath(schema, field.source_id)));
  if (field.transform.kind == types::TransformKind::kIdentity) {
    cells.array = std::move(array);
  } else {
    const Type& source = types::FindField(schema, field.source_id)->type;
    cells.transformed = Transformed(field.transform, source, *array);
  }
  return cells;
}

/// Turns the sizes of keys into offsets and makes room for them.
void Allocate(EncodedKeys& keys) {
  for (std::size_t i = 1; i < keys.offsets.size(); ++i) {
    keys.offsets[i] += keys.offsets[i - 1];
  }
  keys.bytes.resize(keys.offsets.back());
}

void Fill(const std::vector<KeyCells>& columns, EncodedKeys& keys) {
  // Where the next column of each row goes.
  std::vector<std::uint64_t> ends(keys.offsets.begin(), keys.offsets.end() - 1);
  char* const bytes = keys.bytes.data();
  for (const KeyCells& cells : columns) {
    ForEachCell(cells, [&](std::int64_t row, const auto& cell) {
      const char* end = PutColumn(cells.column, cell, bytes + ends[row]);
      ends[row] = static_cast<std::uint64_t>(end - bytes);
    });
  }
}

}  // namespace

Result<EncodedKeys> EncodeKeys(const SortOrder& order, const types::Schema& schema,
                               const arrow::RecordBatch& batch) {
  FIRN_ASSIGN_OR_RETURN(const KeyEncoder encoder, KeyEncoder::Make(order, schema));
  FIRN_RETURN_NOT_OK(CheckColumns(schema, batch));
  EncodedKeys keys;
  keys.offsets.assign(static_cast<std::size_t>(batch.num_rows()) + 1, 0);
  std::vector<KeyCells> columns;
  for (std::size_t i = 0; i < order.fields.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(KeyCells cells,
                          CellsOf(order.fields[i], encoder.columns()[i], schema, batch));
    ForEachCell(cells, [&](std::int64_t row, const auto& cell) {
      keys.offsets[row + 1] += 1 + CellBytes(cell);
    });
    columns.push_back(std::move(cells));
  }
  Allocate(keys);
  Fill(columns, keys);
  return keys;
}

}  // namespace firn::order
