#pragma once

#include "firn/sources/files/record_reader.h"
#include "fuzz_input.h"

namespace firn::fuzz {

/// What `load` does with a file of these bytes: the schema is inferred, then the records
/// are read with it, and with one of every type. Checks that each record comes back once,
/// as a row or rejected.
void LoadRecords(std::string_view bytes, const sources::FileOptions& options);

}  // namespace firn::fuzz
