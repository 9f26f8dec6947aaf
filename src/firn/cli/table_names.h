#pragma once

#include <string>
#include <vector>

#include "firn/cli/config.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::cli {

/// Names of all tables in order. Makes nothing: without a warehouse there are none.
Result<std::vector<std::string>> ListTableNames(const Config& config, Runtime& runtime);

}  // namespace firn::cli
