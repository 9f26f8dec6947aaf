#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::types {

enum class TransformKind : std::uint8_t {
  kIdentity,
  kBucket,
  kTruncate,
  kYear,
  kMonth,
  kDay,
  kHour,
  kVoid,
};

/// A partition or sort transform (Iceberg spec, "Partition Transforms").
struct Transform {
  TransformKind kind = TransformKind::kIdentity;
  /// Buckets of a bucket transform, width of a truncate; 0 for the others.
  std::int32_t parameter = 0;

  bool operator==(const Transform&) const = default;
};

/// "identity", "bucket[16]", "truncate[4]", "year", "month", "day", "hour", "void".
std::string ToString(const Transform& transform);
/// Invalid, naming `text`, if it is no transform of the spec.
Result<Transform> ParseTransform(std::string_view text);

/// The type of the transform's results; date for a day, as Iceberg's libraries have it.
/// Invalid if the spec does not allow the transform on `source`.
Result<Type> ResultType(const Transform& transform, const Type& source);

/// The transform of one value; null stays null. Dates and times are floored, also before
/// 1970; buckets of nanoseconds are those of their microseconds, as in Iceberg's
/// libraries. REQUIRES: ResultType(transform, source) is ok and `value` is null or of
/// type `source`.
Value Apply(const Transform& transform, const Type& source, const Value& value);

}  // namespace firn::types
