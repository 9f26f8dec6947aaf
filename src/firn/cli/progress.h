#pragma once

#include <cstdint>
#include <string>

#include "firn/core/runtime.h"

namespace firn::cli {

/// Shows on stderr how far a long step is: a bar that redraws itself on a terminal, a
/// line every ten seconds elsewhere. Not thread-safe.
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
  void Draw(std::int64_t done, const std::string& detail);

  Runtime& runtime_;
  const std::string title_;
  const std::int64_t total_;
  const bool terminal_;
  BootTime last_drawn_;
  bool drawn_ = false;
};

}  // namespace firn::cli
