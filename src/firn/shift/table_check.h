#pragma once

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::shift {

/// OK if a shift can write data files of this table: format version, no default
/// values, partition spec, sort order, the properties that DataFileOptions reads, and the
/// folders of data and metadata. Invalid, naming what is wrong, otherwise. Pure: what
/// cannot be written is to be refused before a record is durable.
Status CheckShiftable(const iceberg::TableMetadata& metadata);

}  // namespace firn::shift
