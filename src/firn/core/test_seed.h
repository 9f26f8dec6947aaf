#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "firn/core/runtime.h"

namespace firn {

/// The seed of this process's random tests: FIRN_TEST_SEED, else one drawn at random.
/// Printed once. Below 2^32, so that a test may count on from it.
inline std::uint64_t TestSeed() {
  static const std::uint64_t kSeed = [] {
    const char* given = std::getenv("FIRN_TEST_SEED");
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10)
                                                : SystemRuntime().Random64() >> 32;
    std::cout << "FIRN_TEST_SEED=" << seed << std::endl;
    return seed;
  }();
  return kSeed;
}

}  // namespace firn
