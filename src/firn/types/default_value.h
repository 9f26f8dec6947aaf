#pragma once

#include <string>

#include "firn/core/status.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::types {

/// Members of a field (Iceberg spec, "Default values"): its value in rows that were
/// written before it was added, and in those that are written since and say nothing of
/// it. See default_column.h.
inline constexpr const char* kInitialDefault = "initial-default";
inline constexpr const char* kWriteDefault = "write-default";

/// A value of a primitive type from its JSON (Iceberg spec, "JSON single-value
/// serialization"). Invalid if it is none.
Result<Value> ValueFromJson(const Type& type, const std::string& text);

/// The JSON text of one of the two; null if the field has none. Lives as long as `field`.
const std::string* FindDefault(const Field& field, const char* name);

/// True if a row of before has a value there and not null; of a nested field, a struct
/// whose fields have their own defaults.
inline bool HasInitialDefault(const Field& field) {
  return FindDefault(field, kInitialDefault) != nullptr;
}

}  // namespace firn::types
