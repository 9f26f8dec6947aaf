#pragma once

#include <cstdint>
#include <string_view>

namespace firn::types {

/// MurmurHash3, x86 variant, 32 bits, seed 0 (Iceberg spec, Appendix B).
std::uint32_t Murmur3(std::string_view bytes);

}  // namespace firn::types
