#pragma once

#include <cstdint>
#include <string>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/order/sort_order.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"

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

/// Where a data file goes: "<folder>/<partition path>/<file name>", the folder being the
/// property write.data.path, else "<location>/data". Folder names that are too long for a
/// file system are cut, so partitions may share a folder.
Result<std::string> DataFileLocation(const iceberg::TableMetadata& metadata,
                                     const types::PartitionSpec& spec,
                                     const types::PartitionTuple& partition,
                                     const std::string& file_name);

}  // namespace firn::shift
