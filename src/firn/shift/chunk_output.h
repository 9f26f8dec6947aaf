#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/merge/sorted_merge.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/planner/plan.h"
#include "firn/shift/file_encoder.h"
#include "firn/shift/new_files.h"
#include "firn/shift/segment_run_input.h"

namespace firn::shift {

/// Footer key-values of a data file: its exact first and last key, base64.
inline constexpr const char* kFirstKeyName = "firn.first-key";
inline constexpr const char* kLastKeyName = "firn.last-key";

/// What one chunk became: normally one file; none if no row of it is new.
struct ChunkFiles {
  std::vector<iceberg::DataFile> files;
  std::int64_t rows = 0;
  /// Bytes that were copied without being decoded.
  std::int64_t verbatim_bytes = 0;
  std::int64_t failover_rolls = 0;
};

/// Bucket of a chunk, with what the table knows of it.
struct ChunkTarget {
  const planner::Bucket& bucket;
  const types::PartitionSpec& spec;
  const order::SortOrder& order;

  bool is_sorted() const { return !bucket.key_types.empty(); }
};

/// Invalid, naming both, if the table has no such spec or order. `metadata` and `bucket`
/// must outlive the target.
Result<ChunkTarget> FindTarget(const iceberg::TableMetadata& metadata,
                               const planner::Bucket& bucket);

struct ChunkOutputOptions {
  parquet_io::FileWriterOptions writer;
  /// Past it a file ends at the next change of key.
  std::int64_t file_bytes_max = 0;
  /// Begins the names of the files.
  std::string name;
  /// Gives each file a thread that encodes it, and must outlive the output; null: none.
  Runtime* encoder_threads = nullptr;
};

/// Writes the rows of one chunk into files. Not thread-safe; after an error only the
/// destructor may be called.
class ChunkOutput {
 public:
  /// The references must outlive the output.
  ChunkOutput(NewFiles& files, const iceberg::TableMetadata& metadata,
              const ChunkTarget& target, ChunkOutputOptions options)
      : files_(files),
        metadata_(metadata),
        target_(target),
        options_(std::move(options)) {}

  /// Takes rows [from, to) of a step; `rows` are all of the step's.
  Status Add(const merge::MergedRows& step, const arrow::RecordBatch& rows,
             std::int64_t from, std::int64_t to);

  /// Takes a row group as it is.
  Status Copy(const SegmentRunInput& input);

  /// All files are durable once it returns. Nothing may be called afterwards.
  Result<ChunkFiles> Finish();

 private:
  bool IsFull() const;
  Status Roll();
  Status OpenFile();
  Status Append(const merge::MergedRows& step, const arrow::RecordBatch& rows,
                std::int64_t from, std::int64_t to);
  Status FinishFile();

  NewFiles& files_;
  const iceberg::TableMetadata& metadata_;
  const ChunkTarget target_;
  const ChunkOutputOptions options_;

  /// Of the open file, if there is one.
  std::string location_;
  std::unique_ptr<storage::ObjectWriter> object_;
  std::unique_ptr<FileEncoder> encoder_;
  std::int64_t rows_in_file_ = 0;
  std::string first_key_;
  std::string last_key_;
  ChunkFiles result_;
};

}  // namespace firn::shift
