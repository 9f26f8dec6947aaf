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
};

Target ParseTarget() {
  const char* text = std::getenv("FIRN_CRASH_POINT");
  Target target;
  if (text == nullptr) return target;
  target.name = text;
  const std::size_t colon = target.name.rfind(':');
  if (colon == std::string::npos) return target;
  const char* end = target.name.data() + target.name.size();
  std::from_chars(target.name.data() + colon + 1, end, target.visit);
  target.name.resize(colon);
  return target;
}

}  // namespace

void CrashPoint(std::string_view name) {
  static const Target target = ParseTarget();
  static std::atomic<int> visits = 0;
  if (target.name.empty() || name != target.name) return;
  if (++visits == target.visit) std::raise(SIGKILL);
}

}  // namespace firn
