#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/types/partition_spec.h"
#include "firn/types/value.h"

// The planner packs the runs of a write-ahead log into chunks, each of which becomes one
// data file. In order, with the file that holds the step:
//   bucket       runs that may share a file, in run order        bucket.h
//   cluster      runs whose key ranges touch                     cluster.h
//   pack         clusters in key order, into chunks              pack.h
//   cut          a cluster over the upper bound, at keys         cut_at_keys.h
//                or by row groups                                split_row_groups.h
//   merge small  a chunk too small joins the one before          merge_small.h
// Pure: no I/O, no clock, no logging; it sees keys as bytes and knows nothing of Parquet
// or storage. Beside it: case_file.h (a plan's input in a file), plan_json.h and
// text_picture.h (a plan for programs and for people).

namespace firn::planner {

/// What runs must have in common to be written to one file.
struct Bucket {
  PartitionSpecId spec_id;
  SortOrderId order_id;
  /// Types, directions and null orders of the key's columns; keys of different text are
  /// never compared. Empty for a table without a sort order: nothing is compared, each
  /// run is a cluster of its own.
  std::string key_types;
  types::PartitionTuple partition;

  bool operator==(const Bucket&) const = default;
};

/// A key inside a run, and the share of the run's bytes that lies below it.
struct Sample {
  std::string_view key = {};
  double fraction = 0;
};

/// Rows of one partition, sorted, standing together in one row group of one segment. Keys
/// are normalized (order/key_encoder.h) and owned by whoever made the input.
struct Run {
  std::uint32_t segment = 0;  // index into PlanInput::segments
  std::uint32_t row_group = 0;
  std::uint32_t run_in_row_group = 0;
  std::uint32_t bucket = 0;  // index into PlanInput::buckets
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  std::string_view first_key = {};
  std::string_view last_key = {};
  /// The last key is above every key; `last_key` is then empty.
  bool last_key_unbounded = false;
  std::uint32_t sample_count = 0;
  std::uint32_t first_sample = 0;  // index into PlanInput::samples, ascending by key
};

struct PlanInput {
  /// Names of the segments; runs with equal first keys are ordered by them, as bytes.
  std::vector<std::string> segments;
  std::vector<Bucket> buckets;
  std::vector<types::PartitionSpec> specs;
  std::vector<Run> runs;
  std::vector<Sample> samples;
};

enum class OversizedClusters { kCutAtKeys, kSplitRowGroups };

struct Limits {
  std::int64_t lower_bound_input_bytes_per_task = 64LL << 20;
  std::int64_t upper_bound_input_bytes_per_task = 128LL << 20;
  std::int64_t max_row_groups_per_task = 4096;
  OversizedClusters oversized_clusters = OversizedClusters::kCutAtKeys;
  /// Partition fields in which null and "" are errors.
  std::vector<std::string> non_empty_partition_fields;
};

/// A run, or the part of it whose keys are in [from_key, to_key).
struct RunSlice {
  std::uint32_t run = 0;  // index into PlanInput::runs
  std::optional<std::string_view> from_key = {};
  std::optional<std::string_view> to_key = {};
  /// Estimates for a part; the parts of a run add up to the run's.
  std::int64_t bytes = 0;
  std::int64_t rows = 0;

  bool is_whole() const { return !from_key && !to_key; }
};

/// What becomes one data file. `runs` stand in run order: the merge's ties are broken by
/// it.
struct Chunk {
  std::uint32_t bucket = 0;
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  /// It holds a part of an oversized cluster.
  bool split = false;
  std::vector<RunSlice> runs = {};
};

struct Stats {
  std::int64_t row_groups = 0;
  std::int64_t clusters = 0;
  std::int64_t oversized_clusters = 0;
  std::int64_t tail_merges = 0;
  std::int64_t largest_cluster_bytes = 0;
  /// Parts that are estimated over the upper bound, and hold no candidate to cut at: one
  /// key with many rows, or rows between two neighbouring samples.
  std::int64_t uncut_parts = 0;
  /// The most chunks of one bucket that can hold one key; 0 without chunks, nothing
  /// without a sort order.
  std::optional<std::int64_t> overlap_depth_max = {};

  bool operator==(const Stats&) const = default;
};

struct Plan {
  /// Buckets in order of first appearance in the input, chunks of a bucket in key order.
  std::vector<Chunk> chunks = {};
  Stats stats;
};

/// Every row of the input is in exactly one chunk.
///
/// O(n log n). Invalid if a field of `non_empty_partition_fields` is null or empty
/// ("<field> is null in <segment> row group <n>"; the first run in input order), if a
/// run's first key is above its last or a size is negative, or if the limits contradict
/// each other. Cancelled if `stop` fires; it is looked at between the phases. Views in
/// the plan live as long as the keys of `input`. REQUIRES: indexes in `input` are in
/// range.
Result<Plan> MakePlan(const PlanInput& input, const Limits& limits,
                      const StopToken& stop);

}  // namespace firn::planner
