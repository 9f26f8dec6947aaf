#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"

namespace firn::iceberg {

/// Whose files a manifest lists.
struct ManifestContext {
  const types::Schema& schema;
  const types::PartitionSpec& spec;
  /// One for each field of the spec.
  const std::vector<types::Type>& partition_types;
  /// 2 or 3.
  std::int32_t format_version = 2;
  ManifestProperties unknown_properties = {};
};

/// A manifest of data files (Iceberg spec, "Manifests"), as an Avro file. REQUIRES:
/// partition tuples fit the types. Invalid if a name in schema or spec is not UTF-8.
Result<std::string> EncodeManifest(const ManifestContext& context,
                                   const std::vector<ManifestEntry>& entries);

/// What a manifest says of itself, so that it can be read without its table.
struct ManifestHeader {
  types::Schema schema;
  types::PartitionSpec spec;
  std::vector<types::Type> partition_types;
  /// 1 if it is not said.
  std::int32_t format_version = 1;
  ManifestContent content = ManifestContent::kData;
};

/// Nothing if the Avro file has no table's schema in its header, as a manifest list.
/// Corruption if malformed.
Result<std::optional<ManifestHeader>> DecodeManifestHeader(std::string_view bytes);

/// Corruption if malformed.
Result<ManifestProperties> DecodeUnknownProperties(std::string_view bytes);

/// The entries of a manifest of format version 1, 2 or 3, nothing inherited yet.
/// Partition values come in the order of `spec`, null where the manifest lacks a field.
/// Corruption if malformed.
Result<std::vector<ManifestEntry>> DecodeManifest(
    std::string_view bytes, const types::PartitionSpec& spec,
    const std::vector<types::Type>& partition_types);

}  // namespace firn::iceberg
