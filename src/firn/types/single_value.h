#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/types/transform.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::types {

/// Binary single-value serialization (Iceberg spec, Appendix D): bounds, and nothing
/// else. REQUIRES: `value` is not null and of type `type`.
std::string ToBytes(const Type& type, const Value& value);
/// Also decodes the narrower form of a promoted type (4 bytes of an int read as long;
/// float as double). Corruption if the length does not fit.
Result<Value> FromBytes(const Type& type, std::string_view bytes);

/// For people, and REQUIRES a primitive type: dates and timestamps as ISO 8601, uuid with
/// hyphens, binary as hex, null as "null".
std::string ToText(const Type& type, const Value& value);

/// As ToText, for the result of a transform on a column of type `source`: "2013-01" for a
/// month.
std::string ToText(const Transform& transform, const Type& source, const Value& value);

/// The inverse of ToText for the primitive types, strict: the whole of `text`, in range.
/// Invalid, naming the type and the value, otherwise. Timestamps take 'T' or a space, up
/// to 6 (or 9) fraction digits; timestamptz needs an offset or 'Z'.
Result<Value> FromText(const Type& type, std::string_view text);

}  // namespace firn::types
