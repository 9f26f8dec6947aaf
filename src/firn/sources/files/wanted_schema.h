#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/core/status.h"
#include "firn/sources/files/infer_schema.h"
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

}  // namespace firn::sources
