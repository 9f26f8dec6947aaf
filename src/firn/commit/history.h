#pragma once

#include <vector>

#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::commit {

/// The snapshots of main, newest first, each the parent of the one before it, as far as
/// expiry has left them. They live as long as the metadata, unchanged.
///
/// Linear in the table's snapshots. Pure.
std::vector<const iceberg::Snapshot*> HistoryOfMain(
    const iceberg::TableMetadata& metadata);

}  // namespace firn::commit
