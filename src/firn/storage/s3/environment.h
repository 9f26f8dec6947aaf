#pragma once

#include <functional>
#include <optional>
#include <string>

namespace firn::storage::s3 {

/// The value of an environment variable; nothing if it is not set, or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The process's.
Environment ProcessEnvironment();

}  // namespace firn::storage::s3
