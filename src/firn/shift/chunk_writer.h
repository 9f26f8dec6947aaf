#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/planner/plan.h"
#include "firn/shift/segment_run_input.h"

namespace firn::shift {

/// Footer key-values of a data file: its exact first and last key, base64.
inline constexpr const char* kFirstKeyName = "firn.first-key";
inline constexpr const char* kLastKeyName = "firn.last-key";

struct ChunkWriterOptions {
  /// Past it a file ends at the next change of key: a failover, not the way files get
  /// their size.
  std::int64_t writer_max_parquet_bytes = 256LL << 20;
};

/// What one chunk became: normally one file; none if no row of it is new.
struct ChunkFiles {
  std::vector<iceberg::DataFile> files;
  std::int64_t rows = 0;
  /// Bytes that were copied without being decoded.
  std::int64_t verbatim_bytes = 0;
  std::int64_t failover_rolls = 0;
};

/// Merges chunks into data files of one table. Thread-safe; all that is passed must
/// outlive it.
class ChunkWriter {
 public:
  ChunkWriter(const iceberg::FileIo& io, const iceberg::TableMetadata& metadata,
              const planner::PlanInput& input,
              const std::vector<std::shared_ptr<const OpenSegment>>& segments,
              ChunkWriterOptions options)
      : io_(io),
        metadata_(metadata),
        input_(input),
        segments_(segments),
        options_(options) {}

  /// Writes the rows of `chunk` in key order. `name` begins the names of its files. Files
  /// are durable once it returns; they belong to the table only when a commit names them.
  Result<ChunkFiles> Write(const planner::Chunk& chunk, const std::string& name,
                           const StopToken& stop) const;

 private:
  const iceberg::FileIo& io_;
  const iceberg::TableMetadata& metadata_;
  const planner::PlanInput& input_;
  const std::vector<std::shared_ptr<const OpenSegment>>& segments_;
  const ChunkWriterOptions options_;
};

}  // namespace firn::shift
