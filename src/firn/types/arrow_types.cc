#include "firn/types/arrow_types.h"

#include <charconv>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <arrow/util/key_value_metadata.h>

namespace firn::types {
namespace {

constexpr std::string_view kFieldIdKey = "PARQUET:field_id";
constexpr std::int32_t kUuidBytes = 16;
constexpr std::int32_t kDecimalPrecisionMax = 38;

std::shared_ptr<arrow::Field> ToArrowField(const Field& field) {
  return arrow::field(
      field.name, ToArrowType(field.type), !field.required,
      arrow::key_value_metadata({std::string(kFieldIdKey)}, {std::to_string(field.id)}));
}

arrow::FieldVector ToArrowFields(const std::vector<Field>& fields) {
  arrow::FieldVector arrow_fields;
  for (const Field& field : fields) arrow_fields.push_back(ToArrowField(field));
  return arrow_fields;
}

std::shared_ptr<arrow::DataType> ToArrowNested(const Type& type) {
  arrow::FieldVector fields = ToArrowFields(type.fields());
  if (type.kind() == TypeKind::kStruct) return arrow::struct_(std::move(fields));
  if (type.kind() == TypeKind::kList) return arrow::list(std::move(fields[0]));
  return std::make_shared<arrow::MapType>(fields[0], std::move(fields[1]));
}

FieldId FieldIdOf(const arrow::Field& field) {
  if (field.metadata() == nullptr) return 0;
  const auto text = field.metadata()->Get(std::string(kFieldIdKey));
  if (!text.ok()) return 0;
  FieldId id = 0;
  std::from_chars(text->data(), text->data() + text->size(), id);
  return id;
}

Result<Field> FromArrowField(const arrow::Field& field) {
  FIRN_ASSIGN_OR_RETURN(Type type, FromArrowType(*field.type()));
  return Field{.id = FieldIdOf(field),
               .name = field.name(),
               .type = std::move(type),
               .required = !field.nullable()};
}

Result<Type> FromArrowStruct(const arrow::DataType& type) {
  std::vector<Field> fields;
  for (const auto& arrow_field : type.fields()) {
    FIRN_ASSIGN_OR_RETURN(Field field, FromArrowField(*arrow_field));
    fields.push_back(std::move(field));
  }
  return Type::Struct(std::move(fields));
}

Result<Type> FromArrowMap(const arrow::DataType& type) {
  const auto& map = static_cast<const arrow::MapType&>(type);
  FIRN_ASSIGN_OR_RETURN(Field key, FromArrowField(*map.key_field()));
  FIRN_ASSIGN_OR_RETURN(Field value, FromArrowField(*map.item_field()));
  return Type::Map(std::move(key), std::move(value));
}

Status NoIcebergType(const arrow::DataType& type) {
  return InvalidError("there is no Iceberg type for Arrow's {}", type.ToString());
}

Result<Type> FromArrowDecimal(const arrow::DataType& type) {
  const auto& decimal = static_cast<const arrow::DecimalType&>(type);
  const bool fits = decimal.precision() <= kDecimalPrecisionMax && decimal.scale() >= 0 &&
                    decimal.scale() <= decimal.precision();
  if (!fits) return NoIcebergType(type);
  return Type::Decimal(decimal.precision(), decimal.scale());
}

Result<Type> FromArrowTimestamp(const arrow::DataType& type) {
  const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
  const bool is_nanoseconds = timestamp.unit() == arrow::TimeUnit::NANO;
  if (timestamp.timezone().empty()) {
    return Type(is_nanoseconds ? TypeKind::kTimestampNs : TypeKind::kTimestamp);
  }
  return Type(is_nanoseconds ? TypeKind::kTimestamptzNs : TypeKind::kTimestamptz);
}

Result<Type> FromArrowTime(const arrow::DataType& type) {
  // Iceberg's time has microseconds; nanoseconds would be lost.
  if (static_cast<const arrow::TimeType&>(type).unit() == arrow::TimeUnit::NANO) {
    return NoIcebergType(type);
  }
  return Type(TypeKind::kTime);
}

Result<Type> FromArrowFixed(const arrow::DataType& type) {
  const auto length = static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width();
  if (length == 0) return NoIcebergType(type);
  return Type::Fixed(length);
}

Result<Type> FromArrowExtension(const arrow::DataType& type) {
  const auto& extension = static_cast<const arrow::ExtensionType&>(type);
  if (extension.extension_name() == "arrow.uuid") return Type(TypeKind::kUuid);
  return FromArrowType(*extension.storage_type());
}

template <typename ArrowArray>
auto Cell(const arrow::Array& array, std::int64_t row) {
  return static_cast<const ArrowArray&>(array).GetView(row);
}

DecimalValue DecimalCell(const arrow::Array& array, std::int64_t row) {
  const auto& decimals = static_cast<const arrow::Decimal128Array&>(array);
  const arrow::Decimal128 decimal(decimals.GetValue(row));
  const auto high = static_cast<unsigned __int128>(decimal.high_bits()) << 64;
  return {static_cast<__int128>(high | decimal.low_bits())};
}

}  // namespace

std::shared_ptr<arrow::DataType> ToArrowType(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return arrow::boolean();
    case TypeKind::kInt:
      return arrow::int32();
    case TypeKind::kLong:
      return arrow::int64();
    case TypeKind::kFloat:
      return arrow::float32();
    case TypeKind::kDouble:
      return arrow::float64();
    case TypeKind::kDecimal:
      return arrow::decimal128(type.precision(), type.scale());
    case TypeKind::kDate:
      return arrow::date32();
    case TypeKind::kTime:
      return arrow::time64(arrow::TimeUnit::MICRO);
    case TypeKind::kTimestamp:
      return arrow::timestamp(arrow::TimeUnit::MICRO);
    case TypeKind::kTimestamptz:
      return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case TypeKind::kTimestampNs:
      return arrow::timestamp(arrow::TimeUnit::NANO);
    case TypeKind::kTimestamptzNs:
      return arrow::timestamp(arrow::TimeUnit::NANO, "UTC");
    case TypeKind::kString:
      return arrow::utf8();
    case TypeKind::kUuid:
      return arrow::fixed_size_binary(kUuidBytes);
    case TypeKind::kFixed:
      return arrow::fixed_size_binary(type.length());
    case TypeKind::kBinary:
      return arrow::binary();
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      return ToArrowNested(type);
  }
  return arrow::null();
}

std::shared_ptr<arrow::Schema> ToArrowSchema(const Schema& schema) {
  return arrow::schema(ToArrowFields(schema.fields));
}

Result<Type> FromArrowType(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return Type(TypeKind::kBoolean);
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
      return Type(TypeKind::kInt);
    case arrow::Type::UINT32:
    case arrow::Type::INT64:
      return Type(TypeKind::kLong);
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT:
      return Type(TypeKind::kFloat);
    case arrow::Type::DOUBLE:
      return Type(TypeKind::kDouble);
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return FromArrowDecimal(type);
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
      return Type(TypeKind::kDate);
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return FromArrowTime(type);
    case arrow::Type::TIMESTAMP:
      return FromArrowTimestamp(type);
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return Type(TypeKind::kString);
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return Type(TypeKind::kBinary);
    case arrow::Type::FIXED_SIZE_BINARY:
      return FromArrowFixed(type);
    case arrow::Type::STRUCT:
      return FromArrowStruct(type);
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST: {
      FIRN_ASSIGN_OR_RETURN(Field element, FromArrowField(*type.field(0)));
      return Type::List(std::move(element));
    }
    case arrow::Type::MAP:
      return FromArrowMap(type);
    case arrow::Type::DICTIONARY:
      return FromArrowType(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case arrow::Type::EXTENSION:
      return FromArrowExtension(type);
    default:
      return NoIcebergType(type);
  }
}

Value ValueAt(const arrow::Array& array, const Type& type, std::int64_t row) {
  if (array.IsNull(row)) return Value();
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return Cell<arrow::BooleanArray>(array, row);
    case TypeKind::kInt:
      return Cell<arrow::Int32Array>(array, row);
    case TypeKind::kLong:
      return Cell<arrow::Int64Array>(array, row);
    case TypeKind::kFloat:
      return Cell<arrow::FloatArray>(array, row);
    case TypeKind::kDouble:
      return Cell<arrow::DoubleArray>(array, row);
    case TypeKind::kDecimal:
      return DecimalCell(array, row);
    case TypeKind::kDate:
      return Cell<arrow::Date32Array>(array, row);
    case TypeKind::kTime:
      return Cell<arrow::Time64Array>(array, row);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return Cell<arrow::TimestampArray>(array, row);
    case TypeKind::kString:
    case TypeKind::kBinary:
      return std::string(Cell<arrow::BinaryArray>(array, row));
    case TypeKind::kUuid:
    case TypeKind::kFixed:
      return std::string(Cell<arrow::FixedSizeBinaryArray>(array, row));
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      break;
  }
  FIRN_CHECK(false, "{} has no single value", type.ToString());
  return Value();
}

}  // namespace firn::types
