#include "firn/types/default_value.h"

#include <nlohmann/json.hpp>

#include "firn/types/single_value.h"

namespace firn::types {
/// Numbers and booleans as they are, everything else as text.
Result<Value> ValueFromJson(const Type& type, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_string()) return FromText(type, text);
  if (type.kind() == TypeKind::kString) return Value(json.get<std::string>());
  return FromText(type, json.get<std::string>());
}

const std::string* FindDefault(const Field& field, const char* name) {
  const auto found = field.unknown.find(name);
  const bool is_there = found != field.unknown.end() && found->second != "null";
  return is_there ? &found->second : nullptr;
}

}  // namespace firn::types
