#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/schema.h"
#include "firn/types/value.h"

namespace firn::sources {

/// What the numbers of a timestamp column count since 1970-01-01T00:00:00 UTC. A number
/// does not tell, so that it has to be declared.
enum class TimeUnit { kSeconds, kMilliseconds, kMicroseconds, kNanoseconds };

/// By full column name, nested names joined by dots.
using TimeUnits = std::map<std::string, TimeUnit, std::less<>>;

/// From "COLUMN=UNIT" each, where a unit is s, ms, us or ns. Invalid, naming the text,
/// for anything else, and for a column that is named twice.
Result<TimeUnits> ParseTimeUnits(const std::vector<std::string>& texts);

/// Invalid if one of the columns is not in the schema or no timestamp.
Status CheckTimeUnits(const TimeUnits& units, const types::Schema& schema);

std::optional<TimeUnit> TimeUnitOf(const TimeUnits& units, std::string_view column);

/// True for the four timestamp types.
bool IsTimestamp(const types::Type& type);

/// True for what stands for a number in text or JSON.
bool IsNumber(std::string_view text);

/// The timestamp that a number says, exactly. Invalid if the type's unit is too coarse or
/// its range too small. REQUIRES: IsTimestamp(type).
Result<types::Value> TimestampFromNumber(const types::Type& type, TimeUnit unit,
                                         std::string_view number);

/// Says that the unit of a number in a column has to be declared, and how.
std::string UndeclaredUnit(std::string_view column, const types::Type& type,
                           std::string_view number);

}  // namespace firn::sources
