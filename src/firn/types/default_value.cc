#include "firn/types/default_value.h"

#include <nlohmann/json.hpp>

#include "firn/types/single_value.h"

namespace firn::types {
namespace {

constexpr const char* kInitialDefault = "initial-default";
constexpr const char* kWriteDefault = "write-default";

/// Single-value JSON (Iceberg spec, "JSON single-value serialization"): numbers and
/// booleans as they are, everything else as text.
Result<Value> FromJson(const Type& type, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_string()) return FromText(type, text);
  if (type.kind() == TypeKind::kString) return Value(json.get<std::string>());
  return FromText(type, json.get<std::string>());
}

Result<Value> Default(const Field& field, const char* name) {
  const auto found = field.unknown.find(name);
  if (found == field.unknown.end() || found->second == "null") return Value();
  const Result<Value> value = FromJson(field.type, found->second);
  if (value.ok()) return value;
  return AddContext(value.status(), fmt::format("{} of column '{}' (field id {})", name,
                                                field.name, field.id));
}

}  // namespace

Result<Value> InitialDefault(const Field& field) {
  return Default(field, kInitialDefault);
}

Result<Value> WriteDefault(const Field& field) { return Default(field, kWriteDefault); }

bool HasInitialDefault(const Field& field) {
  const auto found = field.unknown.find(kInitialDefault);
  return found != field.unknown.end() && found->second != "null";
}

}  // namespace firn::types
