#include "firn/parquet_io/footer_seal.h"

#include <cstring>
#include <optional>

#include <arrow/util/crc32.h>

namespace firn::parquet_io {
namespace {

constexpr std::string_view kOpen = "00000000";

/// Behind the footer: its length, and the magic.
constexpr std::size_t kTrailerBytes = 8;

/// Between a key and its value of eight bytes (Thrift's compact protocol: the next field,
/// which is a binary, and its length).
constexpr std::string_view kBeforeValue = "\x18\x08";

/// Where the digits stand.
std::optional<std::size_t> FindDigits(std::string_view footer) {
  const std::string before = std::string(kFooterCrcKey) + std::string(kBeforeValue);
  const std::size_t found = footer.rfind(before);
  if (found == std::string_view::npos) return std::nullopt;
  const std::size_t digits = found + before.size();
  if (digits + kOpen.size() > footer.size()) return std::nullopt;
  return digits;
}

std::string CrcOfOpen(std::string_view footer, std::size_t digits) {
  std::uint32_t crc = Crc32(0, footer.substr(0, digits));
  crc = Crc32(crc, kOpen);
  return CrcText(Crc32(crc, footer.substr(digits + kOpen.size())));
}

}  // namespace

std::string CrcText(std::uint32_t crc) { return fmt::format("{:08x}", crc); }

std::uint32_t Crc32(std::uint32_t before, std::string_view bytes) {
  return arrow::internal::crc32(before, bytes.data(), bytes.size());
}

std::pair<std::string, std::string> AskForSeal() {
  return {std::string(kFooterCrcKey), std::string(kOpen)};
}

void SealFooter(std::string& file) {
  std::uint32_t length = 0;
  const std::size_t end = file.size() - kTrailerBytes;
  std::memcpy(&length, file.data() + end, sizeof length);
  const auto footer = std::string_view(file).substr(end - length, length);
  const auto digits = FindDigits(footer);
  if (!digits) return;
  const std::string crc = CrcOfOpen(footer, *digits);
  file.replace(end - length + *digits, crc.size(), crc);
}

Status CheckFooterSeal(std::string_view footer) {
  const auto digits = FindDigits(footer);
  if (!digits) return Status::OK();
  if (footer.substr(*digits, kOpen.size()) == CrcOfOpen(footer, *digits)) {
    return Status::OK();
  }
  return Error(ErrorKind::kCorruption,
               "is damaged: its Parquet footer does not have the CRC that it was written "
               "with");
}

}  // namespace firn::parquet_io
