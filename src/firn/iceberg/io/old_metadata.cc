#include "firn/iceberg/io/old_metadata.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

namespace firn::iceberg {
namespace {

constexpr const char* kEnabled = "write.metadata.delete-after-commit.enabled";

/// As Java reads it: in any case, and everything else is false.
bool IsTrue(std::string_view text) {
  constexpr std::string_view kTrue = "true";
  return std::ranges::equal(text, kTrue, [](unsigned char letter, char expected) {
    return std::tolower(letter) == expected;
  });
}

}  // namespace

void DeleteOldMetadata(const FileIo& io, const std::vector<MetadataLogEntry>& before,
                       const TableMetadata& after) {
  const auto property = after.properties.find(kEnabled);
  if (property == after.properties.end() || !IsTrue(property->second)) return;
  std::set<std::string_view> kept;
  for (const MetadataLogEntry& entry : after.metadata_log) {
    kept.insert(entry.metadata_file);
  }
  for (const MetadataLogEntry& entry : before) {
    if (kept.contains(entry.metadata_file)) continue;
    static_cast<void>(io.Delete(entry.metadata_file).ok());
  }
}

}  // namespace firn::iceberg
