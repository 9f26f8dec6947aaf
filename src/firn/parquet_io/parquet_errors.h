#pragma once

#include <string_view>
#include <utility>

#include "firn/core/status.h"

/// libparquet throws. These two are where that ends; they are for the .cc files of this
/// folder only.

namespace firn::parquet_io {

/// A failed read as this project says it: what has an ErrorKind keeps it (the store's own
/// failures), anything else is Corruption. `name` goes in front.
Status ReadFailure(const Status& status, std::string_view name);

/// The exception that is being handled. REQUIRES: called from a catch block.
Status ReadException(std::string_view name);
Status WriteException();

/// `call` returns a Status or Result; what it throws or returns is about the file `name`.
template <typename Call>
auto Reading(std::string_view name, Call&& call) -> decltype(call()) {
  try {
    auto outcome = std::forward<Call>(call)();
    if (outcome.ok()) return outcome;
    if constexpr (std::is_same_v<decltype(outcome), Status>) {
      return ReadFailure(outcome, name);
    } else {
      return ReadFailure(outcome.status(), name);
    }
  } catch (...) {
    return ReadException(name);
  }
}

template <typename Call>
auto Writing(Call&& call) -> decltype(call()) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return WriteException();
  }
}

}  // namespace firn::parquet_io
