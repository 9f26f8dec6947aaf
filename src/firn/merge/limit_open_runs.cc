#include "firn/merge/limit_open_runs.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

namespace firn::merge {
namespace {

using Inputs = std::vector<std::unique_ptr<MergeInput>>;

/// Orders last keys, the unbounded above all others.
struct LaterLast {
  bool operator()(std::optional<std::string_view> a,
                  std::optional<std::string_view> b) const {
    if (!a || !b) return !a && b;
    return *a > *b;
  }
};

struct Cluster {
  /// Numbers of the inputs, ascending: in run order.
  std::vector<std::size_t> inputs;
  std::int64_t depth = 0;
};

/// In key order.
std::vector<Cluster> ClustersOf(const Inputs& inputs) {
  std::vector<std::size_t> by_first_key(inputs.size());
  std::iota(by_first_key.begin(), by_first_key.end(), std::size_t{0});
  std::ranges::stable_sort(by_first_key, {},
                           [&](std::size_t input) { return inputs[input]->first_key(); });
  std::vector<Cluster> clusters;
  // Last keys of the ranges that the sweep is in, the smallest on top.
  std::priority_queue<std::optional<std::string_view>,
                      std::vector<std::optional<std::string_view>>, LaterLast>
      lasts;
  for (const std::size_t input : by_first_key) {
    const std::string_view first = inputs[input]->first_key();
    while (!lasts.empty() && lasts.top() && *lasts.top() < first) lasts.pop();
    if (lasts.empty()) clusters.emplace_back();
    lasts.push(inputs[input]->last_key());
    Cluster& open = clusters.back();
    open.inputs.push_back(input);
    open.depth = std::max(open.depth, static_cast<std::int64_t>(lasts.size()));
  }
  for (Cluster& cluster : clusters) std::ranges::sort(cluster.inputs);
  return clusters;
}

/// What all first passes have in common.
struct FirstPass {
  std::size_t max_open_runs;
  MergeOptions options;
  RunSpool& spool;
  Inputs& inputs;
};

/// Merges inputs [from, to) of the cluster into one, which takes the place of the first.
Status MergeGroup(const Cluster& cluster, std::size_t from, std::size_t to,
                  const FirstPass& pass) {
  Inputs group;
  for (std::size_t i = from; i < to; ++i) {
    group.push_back(std::move(pass.inputs[cluster.inputs[i]]));
  }
  SortedMerge rows(std::move(group), pass.options);
  FIRN_ASSIGN_OR_RETURN(pass.inputs[cluster.inputs[from]], pass.spool.Keep(rows));
  return Status::OK();
}

/// Groups as small as leaves at most `max_open_runs` of them, and none larger than that.
Status MergeInGroups(const Cluster& cluster, const FirstPass& pass) {
  const std::size_t count = cluster.inputs.size();
  const std::size_t groups = (count + pass.max_open_runs - 1) / pass.max_open_runs;
  const std::size_t size = std::clamp<std::size_t>(groups, 2, pass.max_open_runs);
  for (std::size_t from = 0; from + 1 < count; from += size) {
    const std::size_t to = std::min(from + size, count);
    FIRN_RETURN_NOT_OK(MergeGroup(cluster, from, to, pass));
  }
  return Status::OK();
}

}  // namespace

std::int64_t OverlapDepth(const Inputs& inputs) {
  std::int64_t depth = 0;
  for (const Cluster& cluster : ClustersOf(inputs))
    depth = std::max(depth, cluster.depth);
  return depth;
}

Result<Inputs> LimitOpenRuns(Inputs inputs, std::int64_t max_open_runs, RunSpool& spool,
                             MergeOptions options) {
  max_open_runs = std::max<std::int64_t>(max_open_runs, 2);
  options.whole_row_groups = false;
  const FirstPass pass = {.max_open_runs = static_cast<std::size_t>(max_open_runs),
                          .options = options,
                          .spool = spool,
                          .inputs = inputs};
  while (true) {
    bool is_done = true;
    for (const Cluster& cluster : ClustersOf(inputs)) {
      if (cluster.depth <= max_open_runs) continue;
      is_done = false;
      FIRN_RETURN_NOT_OK(MergeInGroups(cluster, pass));
    }
    if (is_done) return inputs;
    std::erase(inputs, nullptr);
  }
}

}  // namespace firn::merge
