#include "firn/storage/s3/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "firn/core/status.h"

namespace firn::storage::s3 {

std::string Sha256Hex(std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int digest_bytes = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(),
                              reinterpret_cast<unsigned char*>(digest.data()),
                              &digest_bytes, EVP_sha256(), nullptr);
  FIRN_CHECK(done == 1, "OpenSSL has no SHA-256");
  digest.resize(digest_bytes);
  return Hex(digest);
}

std::string HmacSha256(std::string_view key, std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int digest_bytes = 0;
  const unsigned char* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
           reinterpret_cast<unsigned char*>(digest.data()), &digest_bytes);
  FIRN_CHECK(done != nullptr, "OpenSSL has no HMAC");
  digest.resize(digest_bytes);
  return digest;
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace firn::storage::s3
