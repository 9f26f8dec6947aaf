#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"

namespace firn::types {

enum class TypeKind : std::uint8_t {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestamptz,
  kTimestampNs,
  kTimestamptzNs,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kStruct,
  kList,
  kMap,
};

struct Field;

/// What a document holds beside the fields that Firn knows: name to JSON text. Kept when
/// it is written again.
using UnknownFields = std::map<std::string, std::string>;

/// An Iceberg type (spec, "Schemas and Data Types"). A value: copies share their nested
/// fields.
class Type {
 public:
  Type() = default;
  /// REQUIRES: `kind` takes no parameters.
  explicit Type(TypeKind kind) : kind_(kind) {}
  static Type Decimal(std::int32_t precision, std::int32_t scale);
  static Type Fixed(std::int32_t length);
  static Type Struct(std::vector<Field> fields);
  /// The names become "element", "key" and "value", and a key is always required.
  static Type List(Field element);
  static Type Map(Field key, Field value);

  TypeKind kind() const { return kind_; }
  bool is_primitive() const { return kind_ < TypeKind::kStruct; }
  /// REQUIRES: a decimal.
  std::int32_t precision() const { return first_parameter_; }
  std::int32_t scale() const { return second_parameter_; }
  /// REQUIRES: a fixed. Bytes.
  std::int32_t length() const { return first_parameter_; }

  /// Struct: its fields; list: {element}; map: {key, value}; primitive: none.
  const std::vector<Field>& fields() const;

  /// As in Iceberg's JSON: "long", "decimal(9, 2)", "fixed[16]"; nested types as in
  /// "struct<1: a: int>".
  std::string ToString() const;

  friend bool operator==(const Type& a, const Type& b);

 private:
  TypeKind kind_ = TypeKind::kBoolean;
  std::int32_t first_parameter_ = 0;
  std::int32_t second_parameter_ = 0;
  std::shared_ptr<const std::vector<Field>> fields_;
};

struct Field {
  FieldId id = 0;
  std::string name;
  Type type;
  bool required = false;
  std::string doc;
  UnknownFields unknown;

  bool operator==(const Field&) const = default;
};

/// The inverse of ToString for primitive types. Invalid, naming `text`, for any other.
Result<Type> ParsePrimitiveType(std::string_view text);

/// True if a column of type `from` may become `to` (spec, "Schema Evolution": int to
/// long, float to double, decimal to a wider precision), or both are equal.
bool IsPromotion(const Type& from, const Type& to);

}  // namespace firn::types
