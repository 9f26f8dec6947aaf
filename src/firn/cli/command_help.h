#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/cli/command_tree.h"

namespace firn::cli {

/// What is told of a command beside its one line and its options.
struct CommandHelp {
  std::string details;
  std::vector<ExampleText> examples;
  std::vector<TopicText> topics;
};

/// The explanation of the command "table create"; of the program itself for "". Empty if
/// nobody wrote one.
const CommandHelp& HelpOf(std::string_view path);

}  // namespace firn::cli
