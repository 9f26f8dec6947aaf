#pragma once

#include <functional>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/sources/files/record_reader.h"
#include "firn/sources/files/schema_inference.h"

namespace firn::sources {

/// Told now and then how many records and bytes were looked at.
using InferenceProgress =
    std::function<void(std::int64_t records, std::int64_t bytes_read)>;

/// Finds the schema that holds the records of all `files`: of text, from all values (see
/// SchemaInference); of Parquet, from their schemas, the wider type where they differ.
///
/// Malformed records tell nothing; with kAsSeen files without records do not either, and
/// give a schema without columns. Invalid, naming the file, if there is no such schema,
/// or no record of text to tell it from, for files of several formats, and for standard
/// input, which can be read only once. Cancelled if `stop` fires.
Result<InferredSchema> InferSchema(
    const std::vector<std::string>& files, const FileOptions& options,
    const StopToken& stop, const InferenceProgress& progress,
    InferenceDetail detail = InferenceDetail::kForNewTable);

}  // namespace firn::sources
