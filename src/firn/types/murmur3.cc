#include "firn/types/murmur3.h"

#include <bit>
#include <cstddef>

namespace firn::types {
namespace {

std::uint32_t LittleEndian(std::string_view bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return word;
}

std::uint32_t Scramble(std::uint32_t word) {
  return std::rotl(word * 0xcc9e2d51u, 15) * 0x1b873593u;
}

std::uint32_t Avalanche(std::uint32_t hash) {
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

}  // namespace

std::uint32_t Murmur3(std::string_view bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::uint32_t hash = 0;
  while (bytes.size() >= 4) {
    hash ^= Scramble(LittleEndian(bytes.substr(0, 4)));
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64u;
    bytes.remove_prefix(4);
  }
  hash ^= Scramble(LittleEndian(bytes));
  return Avalanche(hash ^ length);
}

}  // namespace firn::types
