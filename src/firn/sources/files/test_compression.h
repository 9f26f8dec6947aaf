#pragma once

#include <cstdint>
#include <string>

#include <arrow/util/compression.h>

namespace firn::sources {

/// For tests.
inline std::string Compressed(arrow::Compression::type type, const std::string& text) {
  const auto codec = arrow::util::Codec::Create(type).ValueOrDie();
  const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::int64_t size = std::ssize(text);
  std::string out(static_cast<std::size_t>(codec->MaxCompressedLen(size, data)), '\0');
  auto* to = reinterpret_cast<std::uint8_t*>(out.data());
  const auto taken = codec->Compress(size, data, std::ssize(out), to).ValueOrDie();
  out.resize(static_cast<std::size_t>(taken));
  return out;
}

inline std::string Gzip(const std::string& text) {
  return Compressed(arrow::Compression::GZIP, text);
}

}  // namespace firn::sources
