#include "firn/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "firn/core/status.h"

namespace firn::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr Duration kTerminalInterval = std::chrono::milliseconds(100);
constexpr Duration kLineInterval = std::chrono::seconds(10);
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(Runtime& runtime, std::string title, std::int64_t total)
    : runtime_(runtime),
      title_(std::move(title)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      last_drawn_(runtime.SinceBoot()) {}

Progress::~Progress() {
  if (drawn_ && terminal_) fmt::print(stderr, "{}", kEraseLine);
}

void Progress::Update(std::int64_t done, const std::string& detail) {
  const BootTime now = runtime_.SinceBoot();
  if (now - last_drawn_ < (terminal_ ? kTerminalInterval : kLineInterval)) return;
  last_drawn_ = now;
  Draw(done, detail);
}

void Progress::Draw(std::int64_t done, const std::string& detail) {
  drawn_ = true;
  const double share =
      total_ > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total_))
                 : 0;
  const std::string percent = total_ > 0 ? fmt::format("{:3.0f} % ", 100 * share) : "";
  if (!terminal_) {
    fmt::print(stderr, "{}: {}{}\n", title_, percent, detail);
    return;
  }
  const int filled = static_cast<int>(share * kBarWidth);
  fmt::print(stderr, "{}{} [{:#<{}}{:.<{}}] {}{}", kEraseLine, title_, "", filled, "",
             kBarWidth - filled, percent, detail);
  std::fflush(stderr);
}

}  // namespace firn::cli
