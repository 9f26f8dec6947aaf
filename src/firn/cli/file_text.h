#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn::cli {

/// All of a small file that the user named, by path or "file:" location. Invalid, naming
/// it and the reason, if it cannot be read or has no end within 256 MiB (a device).
Result<std::string> ReadFileText(const std::string& path);

/// Makes or replaces a file that the user named. Invalid, naming it and the system's
/// reason, if it cannot be written.
Status WriteFileText(const std::string& path, std::string_view text);

/// Invalid if `file` is a folder of this machine.
Status CheckNoFolder(const std::string& file);

}  // namespace firn::cli
