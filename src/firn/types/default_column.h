#pragma once

#include <cstdint>
#include <memory>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/types/type.h"

namespace firn::types {

/// `rows` times the default of a field, `name` being kInitialDefault or kWriteDefault;
/// nulls if it has none. A struct's default is one of JSON single values by field id,
/// mostly none, in which each other field has its own (Iceberg spec, "Default values",
/// "JSON single-value serialization").
///
/// Invalid, naming the field, if what the schema says is no value of its type, or a
/// required field in it is without one.
Result<std::shared_ptr<arrow::Array>> DefaultColumn(const Field& field, const char* name,
                                                    std::int64_t rows);

}  // namespace firn::types
