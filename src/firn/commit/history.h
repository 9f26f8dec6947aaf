#pragma once

#include <vector>

#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::commit {

/// The snapshots of main, newest first, each the parent of the one before it.
struct MainHistory {
  /// They live as long as the metadata, unchanged.
  std::vector<const iceberg::Snapshot*> snapshots;
  /// The last one has a parent, but expiry has taken it.
  bool is_cut = false;
};

/// Linear in the table's snapshots. Pure.
MainHistory HistoryOfMain(const iceberg::TableMetadata& metadata);

}  // namespace firn::commit
