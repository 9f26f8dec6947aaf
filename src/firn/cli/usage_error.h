#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/cli/command_tree.h"

namespace firn::cli {

/// A command line that could not be parsed.
struct BadCommandLine {
  /// The commands that were understood: {"table", "create"}.
  std::vector<std::string> path;
  /// Words that nothing knows, in order.
  std::vector<std::string> unknown;
  /// The parser's own words.
  std::string problem;
};

/// One line: an unknown command or option with the nearest known one, a missing command
/// with those that could stand there, else the parser's words; and where the help is.
std::string ExplainUsageError(const CommandTree& root, const BadCommandLine& line);

}  // namespace firn::cli
