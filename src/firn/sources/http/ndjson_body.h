#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/record_reader.h"
#include "firn/sources/http/claim_memory.h"
#include "firn/sources/source.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// What became of the records of one request.
struct BodyRecords {
  /// Columns as in ToArrowSchema; null if no record fits.
  std::shared_ptr<arrow::RecordBatch> rows;
  /// The others, in their order; `position` is the number of the line, from 1.
  std::vector<DeadLetter> dead_letters;
};

/// Reads the lines of a request's body as records of a schema. `source` names the sender
/// in dead letters. Of `options` what NDJSON has counts.
///
/// A line that does not fit is a dead letter; blank ones are nothing. Invalid if the body
/// as a whole is no NDJSON: an array, or an object over several lines; and, naming the
/// line, for a number as first value of a timestamp column without a declared unit.
/// Errors of `claim`, which is told of rows and dead letters after every few MiB of them,
/// and of the latter twice: who makes rows of them needs as much again.
Result<BodyRecords> ReadNdjsonBody(std::string_view body, const types::Schema& schema,
                                   const FileOptions& options, const std::string& source,
                                   const ClaimMemory& claim);

}  // namespace firn::sources
