#include "firn/types/default_value.h"

#include <nlohmann/json.hpp>

#include "firn/types/single_value.h"

namespace firn::types {
namespace {

/// Single-value JSON (Iceberg spec, "JSON single-value serialization"): numbers and
/// booleans as they are, everything else as text.
Result<Value> FromJson(const Type& type, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_string()) return FromText(type, text);
  if (type.kind() == TypeKind::kString) return Value(json.get<std::string>());
  return FromText(type, json.get<std::string>());
}

Result<Value> Default(const Field& field, const char* name) {
  const std::string* text = FindDefault(field, name);
  if (text == nullptr) return Value();
  const Result<Value> value = FromJson(field.type, *text);
  if (value.ok()) return value;
  return AddContext(value.status(), fmt::format("{} of column '{}' (field id {})", name,
                                                field.name, field.id));
}

}  // namespace

Result<Value> InitialDefault(const Field& field) {
  return Default(field, kInitialDefault);
}

Result<Value> WriteDefault(const Field& field) { return Default(field, kWriteDefault); }

const std::string* FindDefault(const Field& field, const char* name) {
  const auto found = field.unknown.find(name);
  const bool is_there = found != field.unknown.end() && found->second != "null";
  return is_there ? &found->second : nullptr;
}

}  // namespace firn::types
