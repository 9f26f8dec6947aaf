#pragma once

#include <cstdint>
#include <string>

#include <arrow/type_fwd.h>

#include "firn/types/type.h"

namespace firn::sources {

/// A value that is not nested, as JSON writes it.
struct ArrowText {
  std::string text;
  /// Stands without quotes: a number or a boolean.
  bool is_bare = false;
};

/// The value in row `row`, of any Arrow type that is not nested, so that nothing of it is
/// lost. `to`, if any: the type of the column that is to take it (see RowAsJson).
/// REQUIRES: it is not null.
ArrowText TextOfValue(const arrow::Array& column, const types::Type* to,
                      std::int64_t row);

}  // namespace firn::sources
