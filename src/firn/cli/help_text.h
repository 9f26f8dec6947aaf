#pragma once

#include <string>
#include <vector>

#include "firn/cli/command_tree.h"

namespace firn::cli {

/// What --help prints for the command that `path` leads to, root's options included.
std::string HelpText(const CommandTree& root, const std::vector<std::string>& path);

}  // namespace firn::cli
