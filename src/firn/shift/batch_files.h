#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/planner/plan.h"

namespace firn::shift {

/// What the names of a chunk's files begin with: "<batch id>-<chunk, five digits>".
std::string ChunkName(std::string_view batch, std::size_t chunk);

/// "<chunk name>.parquet", and "<chunk name>-1.parquet", ... for those that follow it.
std::string ChunkFileName(std::string_view chunk_name, std::size_t file);

/// Whether this may be the name of a file of the batch: as ChunkFileName makes it,
/// perhaps behind a folder of a hash (DataFileLocation).
bool IsFileNameOf(const BatchId& batch, std::string_view name);

/// The id of the batch that a file of this name would be of; empty for any other name.
std::string_view BatchInFileName(std::string_view name);

/// Files of one chunk that BatchFilePrefixes knows, where each has a folder of its own.
inline constexpr std::size_t kNotedFilesOfChunk = 4;

/// What the locations of a batch's files begin with: one for each partition, and one for
/// each file where folders follow from names (write.object-storage.enabled). Errors as
/// FindTarget's.
Result<std::vector<std::string>> BatchFilePrefixes(
    const iceberg::TableMetadata& metadata, const planner::PlanInput& input,
    const std::vector<planner::Chunk>& chunks, const BatchId& batch);

}  // namespace firn::shift
