#pragma once

#include <cstdint>
#include <string>

#include "firn/cli/load_input.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/types/schema.h"

namespace firn::cli {

/// What a load would do.
struct DryRunView {
  std::string table;
  /// Null if the table would be made.
  const iceberg::TableMetadata* metadata = nullptr;
  /// Of the table once it takes the records.
  const types::Schema& schema;
  /// As they are given for a new table.
  std::string partition_by;
  std::string sort_by;
  std::int64_t files = 0;
  const CheckedRecords& records;
};

/// For people: columns, layout, how many records fit, and the first that do not.
std::string DryRunText(const DryRunView& run);

}  // namespace firn::cli
