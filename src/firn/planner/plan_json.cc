#include "firn/planner/plan_json.h"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "firn/planner/bucket.h"
#include "firn/planner/key_range.h"
#include "firn/planner/value_json.h"

namespace firn::planner {
namespace {

using Json = nlohmann::ordered_json;

Json PartitionToJson(const PlanInput& input, const Bucket& bucket, const Legend& legend) {
  const types::PartitionSpec* spec = FindSpec(input, bucket.spec_id);
  const PartitionLegend* partition = legend.FindPartition(bucket.spec_id);
  if (spec == nullptr || partition == nullptr) return nullptr;
  Json json = Json::object();
  for (std::size_t i = 0; i < spec->fields.size(); ++i) {
    json[spec->fields[i].name] = ToJson(partition->types[i], bucket.partition[i]);
  }
  return json;
}

class ChunkRenderer {
 public:
  ChunkRenderer(const PlanInput& input, const Legend& legend, const Chunk& chunk)
      : input_(input),
        legend_(legend),
        chunk_(chunk),
        bucket_(input.buckets[chunk.bucket]),
        keys_(legend.FindKeys(bucket_.key_types)) {}

  Json Render() const {
    const KeyRange range = RangeOf(input_, chunk_);
    const bool has_last = range.end != RangeEnd::kUnbounded;
    return {{"partition", PartitionToJson(input_, bucket_, legend_)},
            {"bytes", chunk_.bytes},
            {"rows", chunk_.rows},
            {"split", chunk_.split},
            {"row_groups", RowGroups()},
            {"slices", Slices()},
            {"min_key", KeyText(range.first)},
            {"max_key", has_last ? KeyText(range.last) : Json(nullptr)}};
  }

 private:
  Json RowGroups() const {
    Json json = Json::array();
    for (const RunSlice& slice : chunk_.runs) {
      const Run& run = input_.runs[slice.run];
      json.push_back(Json::array({input_.segments[run.segment], run.row_group}));
    }
    return json;
  }

  Json Slices() const {
    Json json = Json::array();
    for (const RunSlice& slice : chunk_.runs) {
      if (slice.is_whole()) continue;
      const Run& run = input_.runs[slice.run];
      json.push_back({{"segment", input_.segments[run.segment]},
                      {"row_group", run.row_group},
                      {"from_key", OptionalKey(slice.from_key)},
                      {"to_key", OptionalKey(slice.to_key)},
                      {"bytes", slice.bytes},
                      {"rows", slice.rows}});
    }
    return json;
  }

  Json OptionalKey(const std::optional<std::string_view>& key) const {
    if (!key) return nullptr;
    return KeyText(*key);
  }

  Json KeyText(std::string_view key) const {
    if (bucket_.key_types.empty()) return Json::array();
    if (keys_ == nullptr) return HexOfKey(key);
    return KeyToJson(keys_->encoder, key);
  }

  const PlanInput& input_;
  const Legend& legend_;
  const Chunk& chunk_;
  const Bucket& bucket_;
  const KeyLegend* keys_;
};

Json StatsToJson(const Stats& stats) {
  Json json{{"row_groups", stats.row_groups},
            {"clusters", stats.clusters},
            {"oversized_clusters", stats.oversized_clusters},
            {"tail_merges", stats.tail_merges},
            {"largest_cluster_bytes", stats.largest_cluster_bytes},
            {"uncut_parts", stats.uncut_parts},
            {"overlap_depth_max", nullptr}};
  if (stats.overlap_depth_max) json["overlap_depth_max"] = *stats.overlap_depth_max;
  return json;
}

}  // namespace

std::string RenderPlanJson(const PlanInput& input, const Plan& plan,
                           const Legend& legend) {
  Json chunks = Json::array();
  for (const Chunk& chunk : plan.chunks) {
    chunks.push_back(ChunkRenderer(input, legend, chunk).Render());
  }
  const Json json{{"chunks", std::move(chunks)}, {"stats", StatsToJson(plan.stats)}};
  // A truncated key may end inside a character.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace firn::planner
