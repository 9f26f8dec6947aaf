#pragma once

#include <nlohmann/json.hpp>

namespace firn::cli {

/// Keeps the order in which fields were added. Included by .cc files only: it is slow to
/// compile.
using Json = nlohmann::ordered_json;

/// Prints one JSON document on stdout. Text that is not UTF-8 is shown with replacement
/// characters.
inline void PrintJson(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

}  // namespace firn::cli
