#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "firn/core/status.h"

// A Parquet file has CRCs of its pages, and none of what its footer and its page indexes
// say. A sealed file has them in key-values of its footer.

namespace firn::parquet_io {

/// CRC-32 of the footer's bytes, in eight hex digits, taken while these digits are 0.
inline constexpr std::string_view kFooterCrcKey = "firn.footer-crc32";
/// With the number of a row group behind it: for each of its column chunks eight hex
/// digits, the CRC-32 of its column index and, following it, its offset index. Absent if
/// the file has no page index.
inline constexpr std::string_view kIndexCrcPrefix = "firn.page-index-crc32.";

/// Eight hex digits.
std::string CrcText(std::uint32_t crc);
std::uint32_t Crc32(std::uint32_t before, std::string_view bytes);

/// The key-value that has FileWriter::Finish seal the file.
std::pair<std::string, std::string> AskForSeal();

/// Puts the CRC into the footer of a file, or of its tail, if it has the key-value of
/// AskForSeal, or was sealed before. REQUIRES: there is a footer, whole.
void SealFooter(std::string& file);

/// Corruption if the footer (its bytes alone) is sealed and its bytes are not what they
/// were then.
Status CheckFooterSeal(std::string_view footer);

}  // namespace firn::parquet_io
