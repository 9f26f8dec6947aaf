#include "firn/planner/pack.h"

#include <utility>

#include "firn/planner/cut_at_keys.h"
#include "firn/planner/piece.h"
#include "firn/planner/split_row_groups.h"

namespace firn::planner {
namespace {

class Packer {
 public:
  Packer(const PlanInput& input, const BucketRuns& bucket, const Limits& limits)
      : input_(input), bucket_(bucket), limits_(limits) {}

  void Add(const Cluster& cluster) {
    if (IsOversized(cluster)) {
      AddOversized(cluster);
      return;
    }
    if (MustCloseBefore(cluster)) Close();
    Append(cluster, false);
  }

  Packing Finish() && {
    Close();
    return std::move(packing_);
  }

 private:
  bool cuts_at_keys() const {
    return limits_.oversized_clusters == OversizedClusters::kCutAtKeys;
  }

  bool IsOversized(const Cluster& cluster) const {
    if (cluster.bytes > limits_.upper_bound_input_bytes_per_task) return true;
    return !cuts_at_keys() && cluster.run_count() > limits_.max_row_groups_per_task;
  }

  bool MustCloseBefore(const Cluster& cluster) const {
    const auto open_count = static_cast<std::int64_t>(open_.size());
    return open_bytes_ >= limits_.lower_bound_input_bytes_per_task ||
           open_bytes_ + cluster.bytes > limits_.upper_bound_input_bytes_per_task ||
           open_count + cluster.run_count() > limits_.max_row_groups_per_task;
  }

  void AddOversized(const Cluster& cluster) {
    ++packing_.oversized_clusters;
    const bool joins_open =
        cuts_at_keys() && open_bytes_ < limits_.lower_bound_input_bytes_per_task;
    if (!joins_open) Close();
    Append(cluster, true);
    for (std::vector<Piece>& part : TakePartsOfOpen()) {
      Close();
      open_ = std::move(part);
      open_bytes_ = TotalBytes(open_);
    }
  }

  std::vector<std::vector<Piece>> TakePartsOfOpen() {
    std::vector<Piece> pieces = std::exchange(open_, {});
    const std::int64_t bytes_max = limits_.upper_bound_input_bytes_per_task;
    if (!cuts_at_keys()) {
      return SplitRowGroups(
          std::move(pieces),
          {.bytes_max = bytes_max, .pieces_max = limits_.max_row_groups_per_task});
    }
    if (!bucket_.sorted) {
      ++packing_.uncut_parts;
      return SplitRowGroups(std::move(pieces), {.bytes_max = bytes_max});
    }
    CutParts cut = CutAtKeys(input_, std::move(pieces), bytes_max);
    packing_.uncut_parts += cut.uncut_parts;
    return std::move(cut.parts);
  }

  void Append(const Cluster& cluster, bool oversized) {
    for (std::size_t i = cluster.begin; i < cluster.end; ++i) {
      open_.push_back(WholeRun(input_, bucket_.runs[i], oversized));
    }
    open_bytes_ += cluster.bytes;
  }

  void Close() {
    if (open_.empty()) return;
    packing_.chunks.push_back(ToChunk(input_, open_));
    open_.clear();
    open_bytes_ = 0;
  }

  const PlanInput& input_;
  const BucketRuns& bucket_;
  const Limits& limits_;
  Packing packing_;
  std::vector<Piece> open_;
  std::int64_t open_bytes_ = 0;
};

}  // namespace

Packing PackClusters(const PlanInput& input, const BucketRuns& bucket,
                     std::span<const Cluster> clusters, const Limits& limits) {
  Packer packer(input, bucket, limits);
  for (const Cluster& cluster : clusters) packer.Add(cluster);
  return std::move(packer).Finish();
}

}  // namespace firn::planner
