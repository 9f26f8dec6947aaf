#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn::cli {

/// All of a small file that the user named, by path or "file:" location. Invalid, naming
/// it and the system's reason, if it cannot be read.
Result<std::string> ReadFileText(const std::string& path);

/// Makes or replaces a file that the user named. Invalid, naming it and the system's
/// reason, if it cannot be written.
Status WriteFileText(const std::string& path, std::string_view text);

}  // namespace firn::cli
