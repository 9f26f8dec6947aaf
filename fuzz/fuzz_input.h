#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "firn/core/status.h"

namespace firn::fuzz {

inline std::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process, which is how a fuzzer reports a finding, if the status is an error.
inline void Require(const Status& status) {
  FIRN_CHECK(status.ok(), "{}", status.ToString());
}

}  // namespace firn::fuzz
