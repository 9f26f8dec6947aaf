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

/// What likely separates values where `delimiter` was taken to, and a line was read as
/// one value: as --delimiter takes it; nothing if no other delimiter is in `only_value`.
std::optional<std::string> LikelyDelimiter(std::string_view only_value, char delimiter);

/// True if the names of a header are most likely the values of a record: one is a
/// timestamp, a number with a fraction, or of several lines; or all are values of other
/// types than string; or they are so of several types. Years and days among words may
/// well be names.
bool LooksLikeRecord(const std::vector<std::string>& names);

/// The first name that is a value of another type than string; null if there is none.
const std::string* FindValue(const std::vector<std::string>& names);

/// The error of a file none of whose `columns` the table has, which has `names`.
Status NoneIsKnown(const std::vector<std::string>& columns,
                   const std::vector<std::string>& names);

/// The same for the names of columns, and of the fields of each struct in them.
Status CheckFieldNames(const std::vector<types::Field>& fields);

/// Where there is no column `name`: which one is close, and some of those that are there,
/// "did you mean 'shop'? it has id, shop and 300 more".
std::string WhatIsThere(const std::vector<std::string>& names, std::string_view name);

}  // namespace firn::sources
