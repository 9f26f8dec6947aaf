#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "firn/core/ids.h"

namespace firn::wal {

// How values get out of a Parquet footer. Which values, and what they mean, only the
// caller knows.

/// From a string column's statistics: its one value in a row group.
struct ColumnSingleton {
  /// The column, by its field id.
  FieldId column = 0;
};

/// From the file's key-value metadata: the text under a key.
struct KeyValuePayload {
  /// "{}" stands for the index of the row group.
  std::string key;
};

/// `field_id` is the name that the caller gives to the value.
struct Extraction {
  FieldId field_id = 0;
  std::variant<ColumnSingleton, KeyValuePayload> from;
};

/// Every row of the row group is null.
struct AllNull {
  bool operator==(const AllNull&) const = default;
};

/// More than one value, or nulls beside a value, or statistics that do not tell.
struct NotSingleton {
  bool operator==(const NotSingleton&) const = default;
};

/// The file has no such key or column.
struct Missing {
  bool operator==(const Missing&) const = default;
};

using ExtractedValue = std::variant<std::string, AllNull, NotSingleton, Missing>;

/// For each row group of a file, by its index.
using ExtractedRowGroups = std::vector<std::map<FieldId, ExtractedValue>>;

}  // namespace firn::wal
