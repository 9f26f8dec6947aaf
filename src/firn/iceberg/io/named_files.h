#pragma once

#include <functional>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Calls `visit` with each data and delete file that can be reached: those that any
/// snapshot names which `metadata` lists, of whatever branch or tag or of none, or which
/// a metadata file lists that is in its log. A file may come more than once, and as
/// deleted. Ends early once `visit` returns false.
///
/// OK means that all were visited that can be. What only the log leads to may be gone, as
/// expiry and clean-ups leave it: that names nothing any more. Anything else that cannot
/// be read is an error; so is a stop (Cancelled). Reads each snapshot's manifest list and
/// each manifest once, and keeps one of them in memory, and the manifests' names.
Status VisitNamedFiles(const FileIo& io, const TableMetadata& metadata,
                       const StopToken& stop,
                       const std::function<bool(const DataFile&)>& visit);

}  // namespace firn::iceberg
