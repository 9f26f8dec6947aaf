#pragma once

#include <string>
#include <utility>

#include "firn/types/type.h"

namespace firn::types {

/// For tests: an optional field.
inline Field Column(FieldId id, std::string name, Type type) {
  return {.id = id, .name = std::move(name), .type = std::move(type)};
}

inline Field Column(FieldId id, std::string name, TypeKind kind) {
  return Column(id, std::move(name), Type(kind));
}

inline Field Required(Field field) {
  field.required = true;
  return field;
}

}  // namespace firn::types
