#pragma once

#include <string>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// In the order of `fields`.
std::vector<std::string> ColumnNames(const std::vector<types::Field>& fields);

/// Invalid if one of the names is empty or not UTF-8, or two are equal but for the case
/// of ASCII letters, which many engines do not tell apart.
Status CheckColumnNames(const std::vector<std::string>& names);

/// Where there is no column `name`: which one is close, and some of those that are there,
/// "did you mean 'shop'? it has id, shop and 300 more".
std::string WhatIsThere(const std::vector<std::string>& names, std::string_view name);

}  // namespace firn::sources
