#include "firn/iceberg/metadata/manifest.h"

namespace firn::iceberg {

const UnknownField* FindUnknownField(const ManifestFile& manifest) {
  if (!manifest.unknown_fields.empty()) return &manifest.unknown_fields.front();
  if (!manifest.partitions) return nullptr;
  for (const FieldSummary& summary : *manifest.partitions) {
    if (!summary.unknown_fields.empty()) return &summary.unknown_fields.front();
  }
  return nullptr;
}

}  // namespace firn::iceberg
