#include "firn/storage/s3/uri.h"

#include <algorithm>
#include <charconv>

namespace firn::storage::s3 {
namespace {

bool IsUnreserved(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
         c == '-' || c == '.' || c == '_' || c == '~';
}

std::string Encode(std::string_view text, std::string_view also_kept) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || also_kept.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace

std::string EncodeUriPart(std::string_view text) { return Encode(text, ""); }

std::string EncodeUriPath(std::string_view text) { return Encode(text, "/"); }

Result<std::string> DecodeUri(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned char byte = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || end != digits.data() + 2) {
      return Error(ErrorKind::kCorruption, "{:?} has a '%' without two digits", text);
    }
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

std::string EncodeQuery(const Query& query) {
  Query encoded;
  for (const auto& [name, value] : query) {
    encoded.emplace_back(EncodeUriPart(name), EncodeUriPart(value));
  }
  std::ranges::sort(encoded);
  std::string text;
  for (const auto& [name, value] : encoded) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  }
  return text;
}

}  // namespace firn::storage::s3
