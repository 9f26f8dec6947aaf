#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/types/schema.h"

namespace firn::sources {

/// Finds the narrowest schema for columns of text, from all of their values.
///
/// A column becomes the first of long, double, boolean, date, timestamptz and timestamp
/// that every value is a text of; without any value, or if none fits, string. Zones
/// decide between the two timestamps. What a number would not give back stays a string:
/// leading zeros ("007"), and integers too long for a long or, among fractions, for a
/// double.
class SchemaInference {
 public:
  /// Takes rows into account. Columns are matched by name; new ones are added behind the
  /// others. REQUIRES: all columns are utf8.
  void Add(const arrow::RecordBatch& rows);

  /// All columns optional, with field ids from 1.
  types::Schema Finish() const;

 private:
  struct Column {
    std::string name;
    /// Types that every value so far is a text of: bits by order of preference.
    std::uint32_t candidates;
    bool has_values = false;
  };

  Column& ColumnNamed(const std::string& name);

  std::vector<Column> columns_;
};

}  // namespace firn::sources
