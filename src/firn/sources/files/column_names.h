#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// Invalid if one of the names is empty or not UTF-8, or two are equal but for the case
/// of ASCII letters, which many engines do not tell apart.
Status CheckColumnNames(const std::vector<std::string>& names);

/// What likely separates values where a header was read as one column, as --delimiter
/// takes it; nothing if no other delimiter is in its name.
std::optional<std::string> LikelyDelimiter(std::string_view only_column);

/// The same for the names of columns, and of the fields of each struct in them.
Status CheckFieldNames(const std::vector<types::Field>& fields);

/// Where there is no column `name`: which one is close, and some of those that are there,
/// "did you mean 'shop'? it has id, shop and 300 more".
std::string WhatIsThere(const std::vector<std::string>& names, std::string_view name);

}  // namespace firn::sources
