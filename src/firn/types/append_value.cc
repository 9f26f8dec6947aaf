#include "firn/types/append_value.h"

#include <arrow/builder.h>

namespace firn::types {
namespace {

template <typename Builder, typename Cell>
Status AppendTo(arrow::ArrayBuilder& builder, const Cell& cell) {
  return static_cast<Builder&>(builder).Append(cell);
}

Status AppendDecimal(arrow::ArrayBuilder& builder, const DecimalValue& decimal) {
  const auto low = static_cast<std::uint64_t>(decimal.unscaled);
  const auto high = static_cast<std::int64_t>(decimal.unscaled >> 64);
  return AppendTo<arrow::Decimal128Builder>(builder, arrow::Decimal128(high, low));
}

}  // namespace

Status AppendValue(arrow::ArrayBuilder& builder, const Type& type, const Value& value) {
  switch (type.kind()) {
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
      return AppendDecimal(builder, std::get<DecimalValue>(value));
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

}  // namespace firn::types
