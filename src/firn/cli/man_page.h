#pragma once

#include <string>
#include <string_view>

#include "firn/cli/command_tree.h"

namespace firn::cli {

/// The manual page firn(1) in roff, all commands in it.
std::string ManPage(const CommandTree& root, std::string_view version);

}  // namespace firn::cli
