#pragma once

#include <memory>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/manifest.h"

namespace firn::cli {

/// The live data files of a table of dead letters, oldest first. Invalid if some of its
/// rows were deleted by delete files, which Firn does not read.
Result<std::vector<iceberg::DataFile>> ListLetterFiles(Workspace& workspace,
                                                       const OpenTable& letters);

/// The rows of one of them, columns as the table's schema says, a few MiB at a time or a
/// few large letters.
/// `workspace` and `letters` must outlive the reader.
Result<std::unique_ptr<arrow::RecordBatchReader>> OpenLetterFile(
    Workspace& workspace, const OpenTable& letters, const iceberg::DataFile& file);

}  // namespace firn::cli
