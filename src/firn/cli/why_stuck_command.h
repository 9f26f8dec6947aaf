#pragma once

#include <string>

#include "firn/cli/commands.h"
#include "firn/core/status.h"

namespace firn::cli {

/// Prints what a table waits for, as its metadata, the log and the configuration say; no
/// process is asked. Also while the catalog is down. Changes nothing.
Status RunWhyStuck(const CommandContext& context, const std::string& table,
                   OutputFormat format);

}  // namespace firn::cli
