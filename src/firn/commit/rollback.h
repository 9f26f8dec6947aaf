#pragma once

#include <optional>
#include <string>

#include "firn/commit/positions.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::commit {

/// Why main no longer holds Firn's last commit, as the positions name it; nothing if it
/// does, if Firn never committed, or if expiry has cut the history before it.
///
/// Walks from main by parent. Meeting that commit's snapshot is fine. Rolled back: main
/// is gone; another snapshot is met whose sequence number is not above that commit's; or
/// the history ends without it while the commit's snapshot is still listed. Then
/// positions and data no longer agree, and an operator decides. A history that ends is no
/// sign in itself: PyIceberg's expiry leaves the oldest snapshot without a parent. Pure.
std::optional<std::string> FindRollback(const iceberg::TableMetadata& metadata,
                                        const TablePositions& positions);

/// FindRollback as an error that tells what to do; `table` names the table in it.
Status CheckNotRolledBack(const iceberg::TableMetadata& metadata,
                          const TablePositions& positions, const std::string& table);

}  // namespace firn::commit
