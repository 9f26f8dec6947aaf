#pragma once

#include <string>

#include "firn/core/status.h"

namespace firn::cli {

/// All of a small file that the user named. Invalid, naming it and the system's reason,
/// if it cannot be read.
Result<std::string> ReadFileText(const std::string& path);

}  // namespace firn::cli
