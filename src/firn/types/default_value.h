#pragma once

#include <string>

#include "firn/core/status.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::types {

/// The value of a primitive field in rows that were written before it was added (Iceberg
/// spec, "Default values", initial-default); null if it has none. Invalid, naming the
/// field, if what the schema says is no value of its type.
Result<Value> InitialDefault(const Field& field);

/// The same in rows that are written since and say nothing of the field (write-default).
Result<Value> WriteDefault(const Field& field);

inline constexpr const char* kInitialDefault = "initial-default";
inline constexpr const char* kWriteDefault = "write-default";

/// The JSON text of one of the two; null if the field has none. Lives as long as `field`.
const std::string* FindDefault(const Field& field, const char* name);

/// True if a row of before has a value there and not null; of a nested field, a struct
/// whose fields have their own defaults.
inline bool HasInitialDefault(const Field& field) {
  return FindDefault(field, kInitialDefault) != nullptr;
}

}  // namespace firn::types
