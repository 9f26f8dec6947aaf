#include "firn/iceberg/io/old_metadata.h"

#include <set>
#include <string>
#include <string_view>

#include "firn/iceberg/metadata/table_properties.h"

namespace firn::iceberg {
namespace {

constexpr const char* kEnabled = "write.metadata.delete-after-commit.enabled";

}  // namespace

void DeleteOldMetadata(const FileIo& io, const std::vector<MetadataLogEntry>& before,
                       const TableMetadata& after) {
  const std::string* enabled = FindTableProperty(after, kEnabled);
  if (enabled == nullptr || !IsTrue(*enabled)) return;
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
