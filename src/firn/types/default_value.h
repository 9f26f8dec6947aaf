#pragma once

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

/// True if such a row has a struct there, whose fields have their own defaults, and not
/// null. REQUIRES: a nested type.
bool HasInitialDefault(const Field& field);

}  // namespace firn::types
