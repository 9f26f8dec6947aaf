#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::types {

/// "ts timestamptz not null, service string, price decimal(9, 2)": the text of --columns.
/// Types are Iceberg's primitive ones; a column is optional unless "not null" stands
/// behind its type. Ids are given from 1 on. Invalid, naming the term, if it is
/// malformed.
Result<Schema> ParseColumnList(std::string_view text);

/// In the order of `fields`, without those nested in them.
std::vector<std::string> ColumnNames(const std::vector<Field>& fields);

}  // namespace firn::types
