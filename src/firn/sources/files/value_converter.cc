#include "firn/sources/files/value_converter.h"

#include <map>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include "firn/types/arrow_types.h"
#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using types::TypeKind;
using types::Value;

/// What a message shows of a value at most.
constexpr std::size_t kShownBytesMax = 100;

/// Row to reason; the first column that does not fit stays.
using Rejections = std::map<std::int64_t, std::string>;

std::string Shown(std::string_view value) {
  if (value.size() <= kShownBytesMax) return fmt::format("'{}'", value);
  return fmt::format("'{}...' ({} bytes)", value.substr(0, kShownBytesMax), value.size());
}

template <typename Builder, typename Cell>
Status AppendTo(arrow::ArrayBuilder& builder, const Cell& cell) {
  return static_cast<Builder&>(builder).Append(cell);
}

Status AppendDecimal(arrow::ArrayBuilder& builder, const types::DecimalValue& decimal) {
  const auto low = static_cast<std::uint64_t>(decimal.unscaled);
  const auto high = static_cast<std::int64_t>(decimal.unscaled >> 64);
  return AppendTo<arrow::Decimal128Builder>(builder, arrow::Decimal128(high, low));
}

/// REQUIRES: `value` is of type `kind` and not null, `builder` of its Arrow type.
Status AppendValue(arrow::ArrayBuilder& builder, TypeKind kind, const Value& value) {
  switch (kind) {
    case TypeKind::kBoolean:
      return AppendTo<arrow::BooleanBuilder>(builder, std::get<bool>(value));
    case TypeKind::kInt:
      return AppendTo<arrow::Int32Builder>(builder, std::get<std::int32_t>(value));
    case TypeKind::kLong:
      return AppendTo<arrow::Int64Builder>(builder, std::get<std::int64_t>(value));
    case TypeKind::kFloat:
      return AppendTo<arrow::FloatBuilder>(builder, std::get<float>(value));
    case TypeKind::kDouble:
      return AppendTo<arrow::DoubleBuilder>(builder, std::get<double>(value));
    case TypeKind::kDecimal:
      return AppendDecimal(builder, std::get<types::DecimalValue>(value));
    case TypeKind::kDate:
      return AppendTo<arrow::Date32Builder>(builder, std::get<std::int32_t>(value));
    case TypeKind::kTime:
      return AppendTo<arrow::Time64Builder>(builder, std::get<std::int64_t>(value));
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return AppendTo<arrow::TimestampBuilder>(builder, std::get<std::int64_t>(value));
    case TypeKind::kUuid:
    case TypeKind::kFixed:
      return AppendTo<arrow::FixedSizeBinaryBuilder>(builder,
                                                     std::get<std::string>(value));
    default:
      return AppendTo<arrow::BinaryBuilder>(builder, std::get<std::string>(value));
  }
}

void RejectNulls(const arrow::Array& texts, const types::Field& field,
                 Rejections& rejections) {
  if (!field.required || texts.null_count() == 0) return;
  for (std::int64_t row = 0; row < texts.length(); ++row) {
    if (texts.IsValid(row)) continue;
    rejections.try_emplace(row, fmt::format("column '{}' is null, but required as {}",
                                            field.name, field.type.ToString()));
  }
}

/// A value that does not fit is null in the result, and its row rejected.
Result<std::shared_ptr<arrow::Array>> Parsed(const arrow::StringArray& texts,
                                             const types::Field& field,
                                             Rejections& rejections) {
  FIRN_ASSIGN_OR_RETURN(const auto builder,
                        arrow::MakeBuilder(types::ToArrowType(field.type)));
  FIRN_RETURN_NOT_OK(builder->Reserve(texts.length()));
  for (std::int64_t row = 0; row < texts.length(); ++row) {
    if (texts.IsNull(row)) {
      FIRN_RETURN_NOT_OK(builder->AppendNull());
      continue;
    }
    const Result<Value> value = types::FromText(field.type, texts.GetView(row));
    if (value.ok()) {
      FIRN_RETURN_NOT_OK(AppendValue(*builder, field.type.kind(), *value));
      continue;
    }
    FIRN_RETURN_NOT_OK(builder->AppendNull());
    rejections.try_emplace(row,
                           fmt::format("column '{}': {} is not of type {}", field.name,
                                       Shown(texts.GetView(row)), field.type.ToString()));
  }
  return builder->Finish();
}

Result<std::shared_ptr<arrow::Array>> ConvertColumn(const arrow::RecordBatch& texts,
                                                    const types::Field& field,
                                                    Rejections& rejections) {
  const auto column = texts.GetColumnByName(field.name);
  if (column == nullptr) {
    if (field.required) {
      return InvalidError("column '{}' is required, but not there", field.name);
    }
    return arrow::MakeArrayOfNull(types::ToArrowType(field.type), texts.num_rows());
  }
  RejectNulls(*column, field, rejections);
  if (field.type.kind() == TypeKind::kString) return column;
  return Parsed(static_cast<const arrow::StringArray&>(*column), field, rejections);
}

std::vector<std::int64_t> RowsThatFit(std::int64_t row_count,
                                      const Rejections& rejections) {
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(row_count));
  for (std::int64_t row = 0; row < row_count; ++row) {
    if (!rejections.contains(row)) rows.push_back(row);
  }
  return rows;
}

Result<std::shared_ptr<arrow::Array>> WithoutRejected(
    const std::shared_ptr<arrow::Array>& column, const Rejections& rejections) {
  arrow::ArrayVector pieces;
  std::int64_t start = 0;
  for (const auto& [row, reason] : rejections) {
    if (row > start) pieces.push_back(column->Slice(start, row - start));
    start = row + 1;
  }
  pieces.push_back(column->Slice(start));
  return arrow::Concatenate(pieces);
}

Status CheckNoOtherColumns(const arrow::RecordBatch& texts, const arrow::Schema& schema) {
  for (const auto& field : texts.schema()->fields()) {
    if (schema.GetFieldIndex(field->name()) >= 0) continue;
    return InvalidError("the table has no column '{}'; it has {}", field->name(),
                        fmt::join(schema.field_names(), ", "));
  }
  return Status::OK();
}

}  // namespace

ValueConverter::ValueConverter(types::Schema schema)
    : schema_(std::move(schema)), arrow_schema_(types::ToArrowSchema(schema_)) {}

Result<ValueConverter> ValueConverter::Make(types::Schema schema) {
  for (const types::Field& field : schema.fields) {
    if (field.type.is_primitive()) continue;
    return InvalidError("column '{}': text cannot give a value of type {}", field.name,
                        field.type.ToString());
  }
  return ValueConverter(std::move(schema));
}

Result<ConvertedBatch> ValueConverter::Convert(const arrow::RecordBatch& texts) const {
  FIRN_RETURN_NOT_OK(CheckNoOtherColumns(texts, *arrow_schema_));
  Rejections rejections;
  arrow::ArrayVector columns;
  for (const types::Field& field : schema_.fields) {
    FIRN_ASSIGN_OR_RETURN(auto column, ConvertColumn(texts, field, rejections));
    columns.push_back(std::move(column));
  }
  if (!rejections.empty()) {
    for (auto& column : columns) {
      FIRN_ASSIGN_OR_RETURN(column, WithoutRejected(column, rejections));
    }
  }
  ConvertedBatch converted = {.rows = RowsThatFit(texts.num_rows(), rejections)};
  converted.batch = arrow::RecordBatch::Make(arrow_schema_, std::ssize(converted.rows),
                                             std::move(columns));
  for (auto& [row, reason] : rejections) {
    converted.rejected.push_back({.row = row, .reason = std::move(reason)});
  }
  return converted;
}

}  // namespace firn::sources
