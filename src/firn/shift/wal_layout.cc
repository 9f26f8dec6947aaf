#include "firn/shift/wal_layout.h"

namespace firn::shift {

wal::TableLayout WalLayoutOf(const iceberg::TableMetadata& metadata) {
  return {.uuid = metadata.table_uuid,
          .schema = CurrentSchema(metadata),
          .spec = DefaultSpec(metadata),
          .order = DefaultSortOrder(metadata)};
}

}  // namespace firn::shift
