#pragma once

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::types {

/// Appends one value to a column. REQUIRES: `type` is primitive, `builder` is of its
/// Arrow type, `value` is of it and not null.
Status AppendValue(arrow::ArrayBuilder& builder, const Type& type, const Value& value);

}  // namespace firn::types
