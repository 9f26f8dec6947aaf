#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/types/schema.h"
#include "firn/types/transform.h"

namespace firn::order {

enum class Direction : std::uint8_t { kAscending, kDescending };
enum class NullOrder : std::uint8_t { kNullsFirst, kNullsLast };

struct SortField {
  FieldId source_id = 0;
  types::Transform transform;
  Direction direction = Direction::kAscending;
  NullOrder null_order = NullOrder::kNullsFirst;
  types::UnknownFields unknown;

  bool operator==(const SortField&) const = default;
};

/// An Iceberg sort order (spec, "Sorting"). No fields, id 0: unsorted.
struct SortOrder {
  SortOrderId id;
  std::vector<SortField> fields;
  types::UnknownFields unknown;

  bool operator==(const SortOrder&) const = default;
};

/// "service asc nulls first, ts desc": the text of --sort-by, against `schema`. Ascending
/// by default; nulls first when ascending and last when descending by default, as in
/// Spark. Also "day(ts)". The id is 1, or 0 for an empty text. Invalid, naming the term,
/// if it is malformed, its column is missing or does not allow the transform.
Result<SortOrder> ParseSortOrder(std::string_view text, const types::Schema& schema);

}  // namespace firn::order
