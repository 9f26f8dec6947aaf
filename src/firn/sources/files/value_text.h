#pragma once

#include <string_view>

#include "firn/core/status.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::sources {

/// A value from its text in a file (docs/loading.md lists all that is taken): what
/// types::FromText takes, and how others write
/// - booleans: true, True, TRUE, t, and the same of false;
/// - timestamps: without seconds; an offset of hours alone ("+00"), " UTC", a blank
/// before
///   the offset; a date alone, as its midnight, of a timestamp without zone.
/// Invalid, as types::FromText, for anything else.
Result<types::Value> ValueFromText(const types::Type& type, std::string_view text);

}  // namespace firn::sources
