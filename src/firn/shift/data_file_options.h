#pragma once

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/order/sort_order.h"
#include "firn/parquet_io/file_writer.h"

namespace firn::shift {

/// How files of `metadata`'s table are written: its properties
/// write.parquet.compression-codec and -level, row-group-size-bytes, page-size-bytes,
/// dict-size-bytes, bloom-filter-enabled.column.<name>, bloom-filter-fpp.column.<name>,
/// bloom-filter-max-bytes and write.metadata.metrics.*, with Iceberg's defaults, and
/// `order` as the files' sorting columns.
///
/// Invalid, naming the property, for a value that cannot be read.
Result<parquet_io::FileWriterOptions> DataFileOptions(
    const iceberg::TableMetadata& metadata, const order::SortOrder& order);

}  // namespace firn::shift
