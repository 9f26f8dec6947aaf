#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "firn/core/runtime.h"

namespace firn::wal {

/// The seed of a random test, printed; FIRN_TEST_SEED repeats one.
inline std::uint64_t TestSeed() {
  const char* text = std::getenv("FIRN_TEST_SEED");
  const std::uint64_t seed =
      text != nullptr ? std::strtoull(text, nullptr, 10) : SystemRuntime().Random64();
  std::cout << "FIRN_TEST_SEED=" << seed << "\n";
  return seed;
}

}  // namespace firn::wal
