#pragma once

#include <functional>
#include <vector>

#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::commit {

/// The first snapshot of main, from the newest on, for which `predicate` is true; null if
/// there is none. Lives as long as the metadata, unchanged.
///
/// Looks at no older snapshot where each is listed behind its parent; else linear in all.
const iceberg::Snapshot* FindInHistoryOfMain(
    const iceberg::TableMetadata& metadata,
    const std::function<bool(const iceberg::Snapshot&)>& predicate);

/// The snapshots of main, newest first, each the parent of the one before it, as far as
/// expiry has left them. They live as long as the metadata, unchanged.
///
/// Linear in the table's snapshots. Pure.
std::vector<const iceberg::Snapshot*> HistoryOfMain(
    const iceberg::TableMetadata& metadata);

}  // namespace firn::commit
