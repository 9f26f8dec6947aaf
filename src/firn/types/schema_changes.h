#pragma once

#include <string>
#include <vector>

#include "firn/types/schema.h"

namespace firn::types {

/// What `after` has that `before` has not, for people: "added x (string)", "widened
/// point.x from int to long", "made id optional", in the order of `after`. Fields are
/// matched by their ids. Pure.
std::vector<std::string> SchemaChanges(const Schema& before, const Schema& after);

}  // namespace firn::types
