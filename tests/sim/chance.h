#pragma once

#include <cstdint>
#include <initializer_list>

#include "firn/core/runtime.h"

/// Draws by the seed of the run.
namespace firn::sim {

inline bool Chance(Runtime& runtime, std::uint64_t percent) {
  return runtime.Random64() % 100 < percent;
}

template <typename Number>
Number OneOf(Runtime& runtime, std::initializer_list<Number> choices) {
  return *(choices.begin() + runtime.Random64() % choices.size());
}

/// From 0 to below `limit`, which is above 0.
inline Duration UpTo(Runtime& runtime, Duration limit) {
  return Duration(static_cast<std::int64_t>(runtime.Random64() %
                                            static_cast<std::uint64_t>(limit.count())));
}

}  // namespace firn::sim
