#include "firn/planner/value_json.h"

#include <cmath>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "firn/planner/legend.h"
#include "firn/types/single_value.h"

namespace firn::planner {
namespace {

using Json = nlohmann::ordered_json;
using types::Type;
using types::TypeKind;
using types::Value;

constexpr std::size_t kShownMax = 60;

std::string Shown(const Json& json) {
  if (json.is_structured()) return json.type_name();
  std::string text = json.dump(-1, ' ', true);
  if (text.size() > kShownMax) text = text.substr(0, kShownMax) + "...";
  return text;
}

Status NotOfType(const Type& type, const Json& json) {
  return InvalidError("not a value of type {}: {}", type.ToString(), Shown(json));
}

Json FloatToJson(double value) {
  const bool is_negative = std::signbit(value);
  if (std::isnan(value)) return is_negative ? "-NaN" : "NaN";
  if (std::isinf(value)) return is_negative ? "-Infinity" : "Infinity";
  return value;
}

std::optional<double> FloatFromJson(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "-NaN") return -std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<std::int64_t> LongFromJson(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > kMax) return std::nullopt;
  return json.get<std::int64_t>();
}

std::optional<Value> IntFromJson(const Json& json) {
  const auto value = LongFromJson(json);
  if (!value || !std::in_range<std::int32_t>(*value)) return std::nullopt;
  return Value(static_cast<std::int32_t>(*value));
}

/// Nothing if `json` is no value of the type, or one that is written as text.
std::optional<Value> PlainFromJson(const Type& type, const Json& json) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (!json.is_boolean()) return std::nullopt;
      return json.get<bool>();
    case TypeKind::kInt:
      return IntFromJson(json);
    case TypeKind::kLong:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return LongFromJson(json);
    case TypeKind::kFloat: {
      const auto value = FloatFromJson(json);
      if (!value) return std::nullopt;
      return static_cast<float>(*value);
    }
    case TypeKind::kDouble:
      return FloatFromJson(json);
    case TypeKind::kString:
      if (!json.is_string()) return std::nullopt;
      return json.get<std::string>();
    default:
      return std::nullopt;
  }
}

bool IsWrittenAsText(TypeKind kind) {
  switch (kind) {
    case TypeKind::kDecimal:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return true;
    default:
      return false;
  }
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

Result<std::string> KeyFromHex(std::string_view text) {
  if (!text.starts_with("0x") || text.size() % 2 != 0) {
    return InvalidError("a key is an array of values, or text of the form 0x<hex>");
  }
  std::string key;
  for (std::size_t i = 2; i < text.size(); i += 2) {
    const auto high = HexDigit(text[i]);
    const auto low = HexDigit(text[i + 1]);
    if (!high || !low) return InvalidError("not a hex digit in {}", text);
    key += static_cast<char>(*high * 16 + *low);
  }
  return key;
}

/// False for text that is not UTF-8 and so cannot stand in a JSON document.
bool CanBeWritten(const Json& json) {
  try {
    json.dump();
  } catch (const Json::exception&) {
    return false;
  }
  return true;
}

}  // namespace

Json ToJson(const Type& type, const Value& value) {
  if (types::IsNull(value)) return nullptr;
  if (IsWrittenAsText(type.kind())) return types::ToText(type, value);
  return std::visit(
      [](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_floating_point_v<T>) {
          return FloatToJson(static_cast<double>(held));
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
          return held;
        } else {
          return nullptr;
        }
      },
      value);
}

Result<Value> ValueFromJson(const Type& type, const Json& json) {
  if (json.is_null()) return Value();
  if (IsWrittenAsText(type.kind())) {
    if (!json.is_string()) return NotOfType(type, json);
    const Result<Value> value = types::FromText(type, json.get<std::string>());
    return value.ok() ? value : Result<Value>(NotOfType(type, json));
  }
  const std::optional<Value> value = PlainFromJson(type, json);
  if (!value) return NotOfType(type, json);
  return *value;
}

Json KeyToJson(const order::KeyEncoder& encoder, std::string_view key) {
  const Result<std::vector<Value>> values = encoder.Decode(key);
  if (!values.ok()) return HexOfKey(key);
  Json json = Json::array();
  for (std::size_t i = 0; i < values->size(); ++i) {
    json.push_back(ToJson(encoder.columns()[i].type, (*values)[i]));
  }
  return json;
}

Json ExactKeyToJson(const order::KeyEncoder& encoder, std::string_view key) {
  Json json = KeyToJson(encoder, key);
  if (CanBeWritten(json)) {
    const Result<std::string> back = KeyFromJson(encoder, json);
    if (back.ok() && *back == key) return json;
  }
  return HexOfKey(key);
}

Result<std::string> KeyFromJson(const order::KeyEncoder& encoder, const Json& json) {
  if (json.is_string()) return KeyFromHex(json.get<std::string>());
  if (!json.is_array()) return InvalidError("not an array of values: {}", Shown(json));
  const std::vector<order::KeyColumn>& columns = encoder.columns();
  if (json.size() != columns.size()) {
    return InvalidError("{} values, but the sort order has {} columns", json.size(),
                        columns.size());
  }
  std::vector<Value> values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(Value value, ValueFromJson(columns[i].type, json[i]));
    values.push_back(std::move(value));
  }
  std::string key;
  encoder.Encode(values, key);
  return key;
}

}  // namespace firn::planner
