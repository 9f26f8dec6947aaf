#pragma once

#include <vector>

#include "firn/iceberg/metadata/manifest.h"
#include "firn/types/type.h"

namespace firn::iceberg {

/// For each partition field, what the files' partition values have (Iceberg spec,
/// "Manifest Lists"). -0.0 is below 0.0; NaN is never a bound; strings are compared by
/// unsigned bytes. REQUIRES: each file has one value per type, and of that type.
std::vector<FieldSummary> SummarizePartitions(const std::vector<types::Type>& types,
                                              const std::vector<DataFile>& files);

}  // namespace firn::iceberg
