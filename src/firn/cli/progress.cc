#include "firn/cli/progress.h"

#include <algorithm>
#include <cstdio>

#include "firn/cli/log.h"
#include "firn/cli/terminal.h"
#include "firn/cli/units.h"
#include "firn/core/status.h"

namespace firn::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr int kTerminalWidth = 80;
constexpr Duration kTerminalInterval = std::chrono::milliseconds(100);
constexpr Duration kLineInterval = std::chrono::seconds(10);
/// What is left is a guess, and at the begin a bad one.
constexpr Duration kGuessAfter = std::chrono::seconds(1);
constexpr const char* kEraseLine = "\r\033[K";

double Share(std::int64_t done, std::int64_t total) {
  return std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
}

}  // namespace

std::string FormatShare(std::int64_t done, std::int64_t total, Duration elapsed) {
  const double share = Share(done, total);
  std::string text = fmt::format("{:3.0f} %", 100 * share);
  if (share >= 1 || share <= 0 || elapsed < kGuessAfter) return text;
  const double left = static_cast<double>(elapsed.count()) * (1 - share) / share;
  return text + ", " + FormatDuration(Duration(static_cast<std::int64_t>(left))) +
         " left";
}

Progress::Progress(Runtime& runtime, std::string title, std::int64_t total)
    : runtime_(runtime),
      title_(std::move(title)),
      total_(total),
      terminal_(IsTerminal(stderr)),
      begin_(runtime.SinceBoot()),
      last_drawn_(begin_) {}

Progress::~Progress() {
  if (drawn_ && terminal_) Tell(kEraseLine);
}

void Progress::Update(std::int64_t done, const std::string& detail) {
  const BootTime now = runtime_.SinceBoot();
  if (now - last_drawn_ < (terminal_ ? kTerminalInterval : kLineInterval)) return;
  last_drawn_ = now;
  Draw(done, detail, now - begin_);
}

void Progress::Draw(std::int64_t done, const std::string& detail, Duration elapsed) {
  drawn_ = true;
  const bool known = total_ > 0;
  const std::string share = known ? FormatShare(done, total_, elapsed) + "  " : "";
  if (!terminal_) {
    Announce(fmt::format("{}: {}{}", title_, share, detail));
    return;
  }
  std::string line = title_ + " ";
  if (known) {
    const int filled = static_cast<int>(Share(done, total_) * kBarWidth);
    line += fmt::format("[{:#<{}}{:.<{}}] ", "", filled, "", kBarWidth - filled);
  }
  line += share + detail;
  // A line that is wrapped cannot be erased.
  const auto width = static_cast<std::size_t>(TerminalWidth(stderr, kTerminalWidth) - 1);
  if (line.size() > width) line.resize(width);
  Tell(std::string(kEraseLine) + line);
}

}  // namespace firn::cli
