#pragma once

#include <string>

#include "firn/core/status.h"

namespace firn::storage::s3 {

/// The text of a file, without the line break at its end. Fails if there is none.
Result<std::string> ReadTokenFile(const std::string& path);

}  // namespace firn::storage::s3
