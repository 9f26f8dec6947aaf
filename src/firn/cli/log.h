#pragma once

#include <string>

namespace firn::cli {

struct LogOptions {
  /// debug, info, warn or error.
  std::string level = "info";
  /// text or json.
  std::string format = "text";
};

/// Sets the process's log: stderr, one line per event.
void ConfigureLog(const LogOptions& options);

void LogInfo(const std::string& message);
void LogWarning(const std::string& message);

}  // namespace firn::cli
