#pragma once

#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/wal/segment.h"

namespace firn::shift {

/// The layout in which rows of a table go into the WAL: its current schema, default spec
/// and order.
wal::TableLayout WalLayoutOf(const iceberg::TableMetadata& metadata);

}  // namespace firn::shift
