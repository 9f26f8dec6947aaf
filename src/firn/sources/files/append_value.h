#pragma once

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::sources {

/// Appends one value to a column. REQUIRES: `type` is primitive, `builder` is of its
/// Arrow type, `value` is of it and not null.
Status AppendValue(arrow::ArrayBuilder& builder, const types::Type& type,
                   const types::Value& value);

}  // namespace firn::sources
