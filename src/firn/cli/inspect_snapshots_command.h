#pragma once

#include <string>

#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::cli {

/// A line for each snapshot that the table still lists, oldest first, with the branches
/// and tags that name it; empty without snapshots.
std::string SnapshotsText(const iceberg::TableMetadata& metadata);

}  // namespace firn::cli
