#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "firn/cli/json_output.h"
#include "firn/core/ids.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/serde/manifest_avro.h"

/// What manifests and manifest lists are shown with alike.

namespace firn::cli {

std::string_view ContentName(iceberg::ManifestContent content);

/// A number that another file says, or that an old writer left out.
template <typename Id>
std::string TextOrInherited(const std::optional<Id>& id) {
  return id ? fmt::format("{}", *id) : "inherited";
}

template <typename Id>
Json JsonOf(const std::optional<Id>& id) {
  return id ? Json(id->value()) : Json(nullptr);
}

/// Ids are above 2^53, where many JSON readers round.
inline Json JsonOf(const std::optional<SnapshotId>& id) {
  return id ? Json(fmt::to_string(*id)) : Json(nullptr);
}

/// The column that a partition field is made from; null if the schema does not have it.
const types::Field* SourceOf(const iceberg::ManifestHeader& header, std::size_t field);

std::string PartitionValueText(const iceberg::ManifestHeader& header, std::size_t field,
                               const types::Value& value);

}  // namespace firn::cli
