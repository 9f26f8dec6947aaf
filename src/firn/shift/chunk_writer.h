#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/planner/plan.h"
#include "firn/shift/chunk_output.h"
#include "firn/shift/new_files.h"
#include "firn/shift/segment_run_input.h"
#include "firn/shift/task.h"

namespace firn::shift {

struct ChunkWriterOptions {
  /// Past it a file ends at the next change of key: a failover, not the way files get
  /// their size.
  std::int64_t writer_max_parquet_bytes = 256LL << 20;
  /// Bounds each task's max_open_runs.
  std::int64_t max_open_runs = 1024;
  /// Bounds the table's row groups, which are in memory until they end.
  std::int64_t row_group_bytes_max = 128LL << 20;
};

/// Merges the chunks of a plan into data files of one table. Thread-safe; all that is
/// passed must outlive it.
class ChunkWriter {
 public:
  ChunkWriter(NewFiles& files, const iceberg::TableMetadata& metadata,
              const planner::PlanInput& input, const std::vector<planner::Chunk>& chunks,
              const std::vector<std::shared_ptr<const OpenSegment>>& segments,
              ChunkWriterOptions options)
      : files_(files),
        metadata_(metadata),
        input_(input),
        chunks_(chunks),
        segments_(segments),
        options_(options) {}

  /// Told of a chunk whose files are durable, by its index.
  using Done = std::function<void(std::size_t, ChunkFiles)>;

  struct Request {
    /// Begins the names of all files.
    const std::string& name;
    const StopToken& stop;
    const Done& done;
    /// Gives the task a second thread, which encodes what the first one merges; null:
    /// none.
    Runtime* encoder_threads = nullptr;
  };

  /// Writes the rows of the task's chunks in key order, a file for each. They belong to
  /// the table only when a commit names them.
  Status Write(const Task& task, const Request& request) const;

 private:
  /// Of one call of Write.
  struct Job {
    const Request& request;
    std::int64_t max_open_runs;
    SharedRowGroups& shared;
  };
  /// Chunks [begin, end) by one merge.
  Status Merge(std::size_t begin, std::size_t end, const Job& job) const;

  NewFiles& files_;
  const iceberg::TableMetadata& metadata_;
  const planner::PlanInput& input_;
  const std::vector<planner::Chunk>& chunks_;
  const std::vector<std::shared_ptr<const OpenSegment>>& segments_;
  const ChunkWriterOptions options_;
};

}  // namespace firn::shift
