// firn.yaml.

#include "firn/cli/config.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(firn::fuzz::TextOf(data, size));
  const auto config = firn::cli::ParseConfig(text, "firn.yaml");
  if (!config.ok())
    FIRN_CHECK(config.status().IsInvalid(), "{}", config.status().ToString());
  return 0;
}
