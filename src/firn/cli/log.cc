#include "firn/cli/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "firn/cli/terminal.h"

namespace firn::cli {
namespace {

bool g_json = false;

std::string Line(const std::string& message) {
  return g_json ? nlohmann::json(message).dump() : Printable(message);
}

}  // namespace

void ConfigureLog(const LogOptions& options) {
  g_json = options.format == "json";
  spdlog::set_default_logger(spdlog::stderr_logger_mt("firn"));
  spdlog::set_level(spdlog::level::from_str(options.level));
  spdlog::set_pattern(
      g_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":%v})"
             : "%H:%M:%S %l: %v");
}

void LogInfo(const std::string& message) { spdlog::info("{}", Line(message)); }

void LogWarning(const std::string& message) { spdlog::warn("{}", Line(message)); }

void Announce(const std::string& line) {
  if (g_json) return LogInfo(line);
  Tell(line + "\n");
}

void TellFailure(const std::string& message) {
  if (g_json) return spdlog::error("{}", Line(message));
  Tell(fmt::format("{} {}\n", Styled(stderr, Style::kBad, "firn:"), Printable(message)));
}

}  // namespace firn::cli
