#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/schema.h"
#include "firn/types/transform.h"

namespace firn::types {

/// A transform and the column it is applied to: what --partition-by and --sort-by list.
struct TransformTerm {
  FieldId source_id = 0;
  /// Full name of the column.
  std::string source_name;
  Transform transform;

  bool operator==(const TransformTerm&) const = default;
};

/// "user.name": the full name of a column; "field 7" if there is none of this id, or it
/// is inside a list or map.
std::string SourceName(const Schema& schema, FieldId id);

/// Parts of `text` between commas that are outside parentheses, without blanks around
/// them; none if `text` is blank.
std::vector<std::string_view> SplitTerms(std::string_view text);

/// "tenant_id", "month(time_hour)", "bucket(16, id)" or "truncate(4, name)". Invalid,
/// naming the term, if it is none of them, the column is missing or inside a list or map,
/// or its type does not allow the transform.
Result<TransformTerm> ParseTransformTerm(std::string_view text, const Schema& schema);

/// Without the blanks (spaces and tabs) at both ends.
std::string_view TrimBlanks(std::string_view text);

}  // namespace firn::types
