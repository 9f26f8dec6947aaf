#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn {

/// The name that the fewest typing errors turn into `text`; the first of equals.
/// REQUIRES: `names` is not empty.
std::string NearestName(const std::vector<std::string>& names, std::string_view text);

/// The same, but nothing if more than a third of its letters would be typing errors.
std::optional<std::string> CloseName(const std::vector<std::string>& names,
                                     std::string_view text);

/// "; did you mean 'ts'?" behind a message about a name that there is not; empty if no
/// name is close.
std::string DidYouMean(const std::vector<std::string>& names, std::string_view text);

}  // namespace firn
