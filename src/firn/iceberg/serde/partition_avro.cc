#include "firn/iceberg/serde/partition_avro.h"

#include <optional>
#include <set>
#include <utility>

#include "firn/types/single_value.h"

namespace firn::iceberg {
namespace {

using avro::Kind;
using types::Type;
using types::TypeKind;

constexpr int kUuidBytes = 16;

/// The fewest bytes of two's complement that hold every value of the precision.
std::int32_t DecimalBytes(std::int32_t precision) {
  unsigned __int128 highest = 1;
  for (std::int32_t digit = 0; digit < precision; ++digit) highest *= 10;
  std::int32_t bytes = 1;
  while (((static_cast<unsigned __int128>(1) << (8 * bytes - 1)) - 1) < highest - 1) {
    ++bytes;
  }
  return bytes;
}

avro::SchemaPtr TimestampSchema(std::string_view unit, bool adjusted) {
  return avro::Primitive(
      Kind::kLong, fmt::format("\"logicalType\": \"timestamp-{}\", \"adjust-to-utc\": {}",
                               unit, adjusted));
}

/// The name of a fixed type; Avro wants a name defined once, so a later field of the same
/// type gets its id behind it.
std::string FixedName(const Type& type) {
  if (type.kind() == TypeKind::kUuid) return "uuid_fixed";
  if (type.kind() == TypeKind::kFixed) return fmt::format("fixed_{}", type.length());
  return fmt::format("decimal_{}_{}", type.precision(), type.scale());
}

avro::SchemaPtr FixedSchema(const Type& type, std::string name) {
  if (type.kind() == TypeKind::kUuid) {
    return avro::Fixed(std::move(name), kUuidBytes, "\"logicalType\": \"uuid\"");
  }
  if (type.kind() == TypeKind::kFixed) {
    return avro::Fixed(std::move(name), type.length());
  }
  return avro::Fixed(
      std::move(name), DecimalBytes(type.precision()),
      fmt::format("\"logicalType\": \"decimal\", \"precision\": {}, \"scale\": {}",
                  type.precision(), type.scale()));
}

/// REQUIRES: neither nested nor stored as Avro's fixed.
avro::SchemaPtr PrimitiveSchema(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return avro::Primitive(Kind::kBoolean);
    case TypeKind::kInt:
      return avro::Primitive(Kind::kInt);
    case TypeKind::kLong:
      return avro::Primitive(Kind::kLong);
    case TypeKind::kFloat:
      return avro::Primitive(Kind::kFloat);
    case TypeKind::kDouble:
      return avro::Primitive(Kind::kDouble);
    case TypeKind::kDate:
      return avro::Primitive(Kind::kInt, "\"logicalType\": \"date\"");
    case TypeKind::kTime:
      return avro::Primitive(Kind::kLong, "\"logicalType\": \"time-micros\"");
    case TypeKind::kTimestamp:
      return TimestampSchema("micros", false);
    case TypeKind::kTimestamptz:
      return TimestampSchema("micros", true);
    case TypeKind::kTimestampNs:
      return TimestampSchema("nanos", false);
    case TypeKind::kTimestamptzNs:
      return TimestampSchema("nanos", true);
    case TypeKind::kString:
      return avro::Primitive(Kind::kString);
    case TypeKind::kBinary:
      return avro::Primitive(Kind::kBytes);
    default:
      FIRN_CHECK(false, "no partition type: {}", type.ToString());
  }
}

bool IsStoredAsFixed(const Type& type) {
  return type.kind() == TypeKind::kDecimal || type.kind() == TypeKind::kUuid ||
         type.kind() == TypeKind::kFixed;
}

std::string DecimalToBytes(types::DecimalValue value, std::int32_t length) {
  std::string bytes(static_cast<std::size_t>(length), '\0');
  __int128 rest = value.unscaled;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    *byte = static_cast<char>(rest);
    rest >>= 8;
  }
  return bytes;
}

avro::Value ToAvro(const types::Value& value, const Type& type) {
  if (types::IsNull(value)) return {};
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return {std::get<bool>(value)};
    case TypeKind::kInt:
    case TypeKind::kDate:
      return {std::int64_t{std::get<std::int32_t>(value)}};
    case TypeKind::kFloat:
      return {std::get<float>(value)};
    case TypeKind::kDouble:
      return {std::get<double>(value)};
    case TypeKind::kDecimal:
      return {DecimalToBytes(std::get<types::DecimalValue>(value),
                             DecimalBytes(type.precision()))};
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return {std::get<std::string>(value)};
    default:
      return {std::get<std::int64_t>(value)};
  }
}

types::Value DecimalFromBytes(std::string_view bytes) {
  const bool negative = !bytes.empty() && static_cast<signed char>(bytes.front()) < 0;
  __int128 unscaled = negative ? -1 : 0;
  for (const char byte : bytes) {
    unscaled = static_cast<__int128>(static_cast<unsigned __int128>(unscaled) << 8 |
                                     static_cast<unsigned char>(byte));
  }
  return types::DecimalValue{unscaled};
}

/// Nothing if `number` is no value of the type.
std::optional<types::Value> FromLong(std::int64_t number, const Type& type) {
  switch (type.kind()) {
    case TypeKind::kInt:
    case TypeKind::kDate: {
      const auto narrow = static_cast<std::int32_t>(number);
      if (narrow != number) return std::nullopt;
      return types::Value{narrow};
    }
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return types::Value{number};
    default:
      return std::nullopt;
  }
}

std::optional<types::Value> FromBytes(const std::string& bytes, const Type& type) {
  switch (type.kind()) {
    case TypeKind::kDecimal:
      if (bytes.size() > sizeof(__int128)) return std::nullopt;
      return DecimalFromBytes(bytes);
    case TypeKind::kUuid:
      if (bytes.size() != kUuidBytes) return std::nullopt;
      return types::Value{bytes};
    case TypeKind::kFixed:
      if (bytes.size() != static_cast<std::size_t>(type.length())) return std::nullopt;
      return types::Value{bytes};
    case TypeKind::kString:
    case TypeKind::kBinary:
      return types::Value{bytes};
    default:
      return std::nullopt;
  }
}

std::optional<types::Value> FromAvro(const avro::Value& value, const Type& type) {
  if (const auto* flag = std::get_if<bool>(&value.data)) {
    if (type.kind() != TypeKind::kBoolean) return std::nullopt;
    return types::Value{*flag};
  }
  if (const auto* number = std::get_if<float>(&value.data)) {
    if (type.kind() == TypeKind::kDouble) return types::Value{double{*number}};
    if (type.kind() == TypeKind::kFloat) return types::Value{*number};
    return std::nullopt;
  }
  if (const auto* number = std::get_if<double>(&value.data)) {
    if (type.kind() != TypeKind::kDouble) return std::nullopt;
    return types::Value{*number};
  }
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
    return FromLong(*number, type);
  }
  if (const auto* bytes = std::get_if<std::string>(&value.data)) {
    return FromBytes(*bytes, type);
  }
  return std::nullopt;
}

}  // namespace

avro::SchemaPtr PartitionAvroSchema(const types::PartitionSpec& spec,
                                    const std::vector<Type>& types) {
  std::vector<avro::RecordField> fields;
  std::set<std::string> names;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const types::PartitionField& field = spec.fields[i];
    avro::SchemaPtr type;
    if (IsStoredAsFixed(types[i])) {
      std::string name = FixedName(types[i]);
      if (!names.insert(name).second) name += fmt::format("_{}", field.field_id);
      type = FixedSchema(types[i], std::move(name));
    } else {
      type = PrimitiveSchema(types[i]);
    }
    fields.push_back({.name = avro::SanitizeName(field.name),
                      .field_id = field.field_id,
                      .type = avro::Optional(std::move(type))});
  }
  return avro::Record("r102", std::move(fields));
}

avro::Value PartitionToAvro(const types::PartitionTuple& tuple,
                            const std::vector<Type>& types) {
  avro::Values values;
  for (std::size_t i = 0; i < types.size(); ++i) {
    values.push_back(ToAvro(tuple[i], types[i]));
  }
  return {std::move(values)};
}

Result<types::PartitionTuple> PartitionFromAvro(const avro::Schema& schema,
                                                const avro::Value& record,
                                                const types::PartitionSpec& spec,
                                                const std::vector<Type>& types) {
  types::PartitionTuple tuple;
  avro::RecordReader reader(schema, record, "partition");
  for (std::size_t i = 0; i < types.size(); ++i) {
    const types::PartitionField& field = spec.fields[i];
    const avro::Value* value = reader.Find(field.field_id, field.name);
    if (value == nullptr) {
      tuple.emplace_back();
      continue;
    }
    std::optional<types::Value> converted = FromAvro(*value, types[i]);
    if (!converted.has_value()) {
      return Error(ErrorKind::kCorruption, "partition field '{}': expected {}",
                   field.name, types[i].ToString());
    }
    tuple.push_back(*std::move(converted));
  }
  return tuple;
}

}  // namespace firn::iceberg
