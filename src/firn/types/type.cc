#include "firn/types/type.h"

#include <array>
#include <utility>

#include "firn/core/whole_number.h"

namespace firn::types {
namespace {

struct NamedKind {
  std::string_view name;
  TypeKind kind;
};

constexpr std::array kPlainTypes = {
    NamedKind{"boolean", TypeKind::kBoolean},
    NamedKind{"int", TypeKind::kInt},
    NamedKind{"long", TypeKind::kLong},
    NamedKind{"float", TypeKind::kFloat},
    NamedKind{"double", TypeKind::kDouble},
    NamedKind{"date", TypeKind::kDate},
    NamedKind{"time", TypeKind::kTime},
    NamedKind{"timestamp", TypeKind::kTimestamp},
    NamedKind{"timestamptz", TypeKind::kTimestamptz},
    NamedKind{"timestamp_ns", TypeKind::kTimestampNs},
    NamedKind{"timestamptz_ns", TypeKind::kTimestamptzNs},
    NamedKind{"string", TypeKind::kString},
    NamedKind{"uuid", TypeKind::kUuid},
    NamedKind{"binary", TypeKind::kBinary},
};

constexpr std::int32_t kDecimalPrecisionMax = 38;

std::string_view PlainName(TypeKind kind) {
  for (const NamedKind& plain : kPlainTypes) {
    if (plain.kind == kind) return plain.name;
  }
  return "unknown";
}

std::string StructText(const std::vector<Field>& fields) {
  std::string text = "struct<";
  for (const Field& field : fields) {
    if (&field != &fields.front()) text += ", ";
    text += fmt::format("{}: {}: {}", field.id, field.name, field.type.ToString());
  }
  return text + ">";
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The text between `prefix` and `suffix`; nothing if it does not have both.
std::optional<std::string_view> Inside(std::string_view text, std::string_view prefix,
                                       std::string_view suffix) {
  if (text.size() < prefix.size() + suffix.size()) return std::nullopt;
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  return text;
}

std::optional<std::int32_t> ParseCount(std::string_view text) {
  const auto count = ParseWholeNumber<std::int32_t>(Trim(text));
  if (!count || *count < 0) return std::nullopt;
  return count;
}

std::optional<Type> ParseDecimal(std::string_view parameters) {
  const std::size_t comma = parameters.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto precision = ParseCount(parameters.substr(0, comma));
  const auto scale = ParseCount(parameters.substr(comma + 1));
  if (!precision || !scale || *precision < 1) return std::nullopt;
  if (*precision > kDecimalPrecisionMax || *scale > *precision) return std::nullopt;
  return Type::Decimal(*precision, *scale);
}

std::optional<Type> ParseParameterized(std::string_view text) {
  if (const auto length = Inside(text, "fixed[", "]")) {
    const auto bytes = ParseCount(*length);
    if (bytes && *bytes > 0) return Type::Fixed(*bytes);
    return std::nullopt;
  }
  if (const auto parameters = Inside(text, "decimal(", ")")) {
    return ParseDecimal(*parameters);
  }
  return std::nullopt;
}

}  // namespace

Type Type::Decimal(std::int32_t precision, std::int32_t scale) {
  Type type(TypeKind::kDecimal);
  type.first_parameter_ = precision;
  type.second_parameter_ = scale;
  return type;
}

Type Type::Fixed(std::int32_t length) {
  Type type(TypeKind::kFixed);
  type.first_parameter_ = length;
  return type;
}

Type Type::Struct(std::vector<Field> fields) {
  Type type(TypeKind::kStruct);
  type.fields_ = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

Type Type::List(Field element) {
  Type type(TypeKind::kList);
  element.name = "element";
  type.fields_ = std::make_shared<const std::vector<Field>>(1, std::move(element));
  return type;
}

Type Type::Map(Field key, Field value) {
  Type type(TypeKind::kMap);
  key.name = "key";
  key.required = true;
  value.name = "value";
  type.fields_ = std::make_shared<const std::vector<Field>>(
      std::vector<Field>{std::move(key), std::move(value)});
  return type;
}

const std::vector<Field>& Type::fields() const {
  static const std::vector<Field> kNone;
  return fields_ == nullptr ? kNone : *fields_;
}

std::string Type::ToString() const {
  switch (kind_) {
    case TypeKind::kDecimal:
      return fmt::format("decimal({}, {})", precision(), scale());
    case TypeKind::kFixed:
      return fmt::format("fixed[{}]", length());
    case TypeKind::kStruct:
      return StructText(fields());
    case TypeKind::kList:
      return fmt::format("list<{}>", fields()[0].type.ToString());
    case TypeKind::kMap:
      return fmt::format("map<{}, {}>", fields()[0].type.ToString(),
                         fields()[1].type.ToString());
    default:
      return std::string(PlainName(kind_));
  }
}

bool operator==(const Type& a, const Type& b) {
  return a.kind_ == b.kind_ && a.first_parameter_ == b.first_parameter_ &&
         a.second_parameter_ == b.second_parameter_ &&
         (a.fields_ == b.fields_ || a.fields() == b.fields());
}

Result<Type> ParsePrimitiveType(std::string_view text) {
  for (const NamedKind& plain : kPlainTypes) {
    if (plain.name == text) return Type(plain.kind);
  }
  if (const auto type = ParseParameterized(text)) return *type;
  return InvalidError("'{}' is not a primitive Iceberg type", text);
}

bool IsPromotion(const Type& from, const Type& to) {
  if (from == to) return true;
  if (from.kind() == TypeKind::kInt) return to.kind() == TypeKind::kLong;
  if (from.kind() == TypeKind::kFloat) return to.kind() == TypeKind::kDouble;
  return from.kind() == TypeKind::kDecimal && to.kind() == TypeKind::kDecimal &&
         from.scale() == to.scale() && from.precision() < to.precision();
}

}  // namespace firn::types
