#include "firn/storage/s3/environment.h"

#include <cstdlib>

namespace firn::storage::s3 {

Environment ProcessEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

}  // namespace firn::storage::s3
