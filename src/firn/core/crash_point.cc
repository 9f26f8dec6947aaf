#include "firn/core/crash_point.h"

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

namespace firn {
namespace {

struct Target {
  std::string name;
  int visit = 1;
  int signal = SIGKILL;
};

void ParseNumber(std::string_view text, int& number) {
  std::from_chars(text.data(), text.data() + text.size(), number);
}

Target ParseTarget() {
  const char* text = std::getenv("FIRN_CRASH_POINT");
  Target target;
  if (text == nullptr) return target;
  target.name = text;
  if (const char* signal = std::getenv("FIRN_CRASH_SIGNAL")) {
    ParseNumber(signal, target.signal);
  }
  const std::size_t colon = target.name.rfind(':');
  if (colon == std::string::npos) return target;
  ParseNumber(std::string_view(target.name).substr(colon + 1), target.visit);
  target.name.resize(colon);
  return target;
}

}  // namespace

void CrashPoint(std::string_view name) {
  static const Target target = ParseTarget();
  static std::atomic<int> visits = 0;
  if (target.name.empty() || name != target.name) return;
  if (++visits == target.visit) std::raise(target.signal);
}

}  // namespace firn
