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

/// Tells people a line on stderr; where the log is JSON, as an event of level info.
void Announce(const std::string& line);
/// Tells what ended the program, "firn: ..."; where the log is JSON, as an event of level
/// error.
void TellFailure(const std::string& message);

}  // namespace firn::cli
