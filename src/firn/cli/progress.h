#pragma once

#include <cstdint>
#include <string>

#include "firn/core/runtime.h"

namespace firn::cli {

/// Shows on stderr how far a long step is: a bar that redraws itself on a terminal, with
/// the share that is done and the time that is left; a line every ten seconds elsewhere.
/// Not thread-safe.
class Progress {
 public:
  /// `total` in the unit of `Update`; 0 if unknown.
  Progress(Runtime& runtime, std::string title, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `detail` stands behind the bar: "336,776 rows".
  void Update(std::int64_t done, const std::string& detail);

 private:
  void Draw(std::int64_t done, const std::string& detail, Duration elapsed);

  Runtime& runtime_;
  const std::string title_;
  const std::int64_t total_;
  const bool terminal_;
  const BootTime begin_;
  BootTime last_drawn_;
  bool drawn_ = false;
};

/// " 50 %, 1.5 s left"; without the time while it cannot be told. `done` is over 0 and
/// not over `total`.
std::string FormatShare(std::int64_t done, std::int64_t total, Duration elapsed);

}  // namespace firn::cli
