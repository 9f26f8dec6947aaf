#include "firn/planner/notation.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

namespace firn::planner {
namespace {

/// Cuts `text` at the first `separator`; what follows it is returned.
std::string CutAt(char separator, std::string& text) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) return "";
  std::string rest = text.substr(at + 1);
  text.resize(at);
  return rest;
}

void ParseSamples(const std::string& text, Runs::Description& run) {
  std::istringstream stream(text);
  std::string sample;
  while (std::getline(stream, sample, ',')) {
    const std::string fraction = CutAt('=', sample);
    run.samples.emplace_back(sample, fraction.empty() ? -1 : std::stod(fraction));
  }
  const double count = static_cast<double>(run.samples.size());
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    double& fraction = run.samples[i].second;
    if (fraction < 0) fraction = static_cast<double>(i + 1) / (count + 1);
  }
}

Runs::Description ParseRun(std::string text) {
  Runs::Description run;
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    run.partition = text.substr(0, slash);
    run.partition_is_null = run.partition == "~";
    text = text.substr(slash + 1);
  }
  ParseSamples(CutAt('@', text), run);
  const std::string bytes = CutAt(':', text);
  if (!bytes.empty()) run.bytes = std::stoll(bytes);
  run.rows = 10 * run.bytes;
  run.sorted = !text.empty();
  run.unbounded = text.ends_with('-');
  const std::string last = CutAt('-', text);
  run.first = text;
  run.last = last.empty() && !run.unbounded ? text : last;
  return run;
}

types::Value PartitionValue(const Runs::Description& run) {
  if (run.partition_is_null) return {};
  return run.partition;
}

std::string RunText(const Run& run) {
  if (run.last_key_unbounded) return std::string(run.first_key) + "-";
  if (run.first_key == run.last_key) return std::string(run.first_key);
  return fmt::format("{}-{}", run.first_key, run.last_key);
}

std::string PartitionText(const Bucket& bucket) {
  const types::Value& value = bucket.partition.at(0);
  if (types::IsNull(value)) return "~/";
  const std::string& text = std::get<std::string>(value);
  return text == "P" ? "" : text + "/";
}

std::string PlanText(const PlanInput& input, const Plan& plan, bool with_sizes) {
  std::string text;
  for (const Chunk& chunk : plan.chunks) {
    text += fmt::format("{}{}{}[", text.empty() ? "" : " ", chunk.split ? "!" : "",
                        PartitionText(input.buckets[chunk.bucket]));
    for (const RunSlice& slice : chunk.runs) {
      if (&slice != &chunk.runs.front()) text += ' ';
      text += RunText(input.runs[slice.run]);
      if (!slice.is_whole()) {
        text += fmt::format("[{},{})", slice.from_key.value_or(""),
                            slice.to_key.value_or(""));
      }
      if (with_sizes) text += fmt::format(":{}", slice.bytes);
    }
    text += ']';
  }
  return text;
}

}  // namespace

Runs::Runs(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::string run;
  while (stream >> run) Add(ParseRun(run));
}

void Runs::Add(const Description& description) {
  if (input_.specs.empty()) {
    input_.specs.push_back({.id = PartitionSpecId(0), .fields = {{.name = "tenant"}}});
  }
  Run run{.segment = static_cast<std::uint32_t>(input_.segments.size()),
          .bucket = FindBucket(description),
          .bytes = description.bytes,
          .rows = description.rows,
          .first_key = Keep(description.first),
          .last_key = Keep(description.last),
          .last_key_unbounded = description.unbounded,
          .sample_count = static_cast<std::uint32_t>(description.samples.size()),
          .first_sample = static_cast<std::uint32_t>(input_.samples.size())};
  input_.segments.push_back(fmt::format("s{:03}", input_.segments.size()));
  for (const auto& [key, fraction] : description.samples) {
    input_.samples.push_back({.key = Keep(key), .fraction = fraction});
  }
  input_.runs.push_back(run);
}

std::string_view Runs::Keep(std::string key) {
  return keys_.emplace_back(std::move(key));
}

std::uint32_t Runs::FindBucket(const Description& description) {
  const Bucket bucket{.spec_id = PartitionSpecId(0),
                      .order_id = SortOrderId(description.sorted ? 1 : 0),
                      .key_types = description.sorted ? "string asc" : "",
                      .partition = {PartitionValue(description)}};
  const auto found = std::ranges::find(input_.buckets, bucket);
  const std::size_t place = found - input_.buckets.begin();
  if (found == input_.buckets.end()) input_.buckets.push_back(bucket);
  return static_cast<std::uint32_t>(place);
}

std::string ToText(const PlanInput& input, const Plan& plan) {
  return PlanText(input, plan, true);
}

std::string ToShortText(const PlanInput& input, const Plan& plan) {
  return PlanText(input, plan, false);
}

std::string ToText(const Stats& stats) {
  return fmt::format(
      "row_groups {} clusters {} oversized {} joins {} largest {} uncut {} depth {}",
      stats.row_groups, stats.clusters, stats.oversized_clusters, stats.tail_merges,
      stats.largest_cluster_bytes, stats.uncut_parts,
      stats.overlap_depth_max ? std::to_string(*stats.overlap_depth_max) : "null");
}

}  // namespace firn::planner
