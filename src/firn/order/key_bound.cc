#include "firn/order/key_bound.h"

#include "firn/types/bounds.h"

namespace firn::order {

std::string TruncateKeyDown(std::string_view key) {
  return types::TruncateLowerBinary(key, kKeyBytesMax);
}

std::optional<std::string> TruncateKeyUp(std::string_view key) {
  return types::TruncateUpperBinary(key, kKeyBytesMax);
}

}  // namespace firn::order
