#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/sources/files/infer_schema.h"
#include "firn/sources/files/time_units.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// A table that is there, and files that are to be landed in it.
struct FilesForTable {
  types::Schema schema;
  std::int32_t format_version = 2;
  std::vector<std::string> files;
};

/// The table's schema, changed as little as it takes to hold the records of the files
/// (types::UnionByName); equal to it if nothing has to change.
///
/// A column that the table lacks is added with the type that InferSchema finds. One that
/// it has becomes optional if a record has no value for it. It becomes wider where a
/// Parquet file says a wider type; where values are text, only an int that meets a larger
/// integer does, since they tell no type: a value that does not fit is a dead letter, as
/// ever. Files are read to their end.
///
/// Invalid, naming the column, where a Parquet column neither fits nor can be made to
/// fit, and as InferSchema and UnionByName.
Result<types::Schema> FindWantedSchema(const FilesForTable& table,
                                       const FileOptions& options, const StopToken& stop,
                                       const InferenceProgress& progress);

/// Fields, at any depth, that a schema may come to by records of a stream: more are names
/// that are data.
inline constexpr std::size_t kStreamFieldsMax = 1000;

/// The same for JSON records of a stream that did not fit: new columns, and ints that
/// meet larger integers. Nothing becomes optional, since one bad record is no reason.
///
/// Records that cannot be united with the table want nothing (they are looked at one by
/// one if all at once cannot), nor do those that would not fit all the same. Equal to
/// `schema` if nothing has to change, or there would be more than kStreamFieldsMax
/// fields. Pure.
types::Schema SchemaForRecords(const types::Schema& schema,
                               const std::vector<std::string_view>& records,
                               const TimeUnits& units);

}  // namespace firn::sources
