#include "firn/planner/partition_view.h"

#include <algorithm>
#include <tuple>

#include "firn/planner/labels.h"
#include "firn/types/single_value.h"

namespace firn::planner {
namespace {

PartitionView ViewOf(const ExplainedPlan& explained, std::span<const Chunk> files) {
  PartitionView partition{.bucket = files.front().bucket, .files = files};
  partition.sorted = !explained.input.buckets[partition.bucket].key_types.empty();
  BucketRuns runs{.bucket = partition.bucket, .sorted = partition.sorted, .runs = {}};
  for (const Chunk& file : files) {
    partition.bytes += file.bytes;
    partition.rows += file.rows;
    for (const RunSlice& slice : file.runs) {
      if (!slice.from_key) runs.runs.push_back(slice.run);
    }
  }
  SortRuns(explained.input, runs);
  partition.clusters = ClusterByKeyRange(explained.input, runs);
  partition.runs = std::move(runs.runs);
  return partition;
}

std::int64_t SizeOf(const auto& things) {
  return static_cast<std::int64_t>(things.size());
}

std::string ValueText(const KeyLegend& legend, std::size_t column,
                      const types::Value& value) {
  return Printable(types::ToText(legend.encoder.columns()[column].type, value));
}

std::string Joined(std::span<const std::string> texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return "(" + joined + ")";
}

}  // namespace

std::vector<PartitionView> PartitionsOf(const ExplainedPlan& explained) {
  std::vector<PartitionView> partitions;
  std::span<const Chunk> rest = explained.plan.chunks;
  while (!rest.empty()) {
    const auto end = std::ranges::find_if(
        rest, [&](const Chunk& chunk) { return chunk.bucket != rest.front().bucket; });
    const std::size_t count = end - rest.begin();
    partitions.push_back(ViewOf(explained, rest.first(count)));
    rest = rest.subspan(count);
  }
  std::ranges::stable_sort(partitions, {}, [&](const PartitionView& partition) {
    const Bucket& bucket = explained.input.buckets[partition.bucket];
    return std::tie(bucket.spec_id, bucket.partition);
  });
  return partitions;
}

std::vector<KeyRange> RunRanges(const PlanInput& input, const PartitionView& partition) {
  std::vector<KeyRange> ranges;
  for (const std::uint32_t run : partition.runs) {
    ranges.push_back(RangeOf(input.runs[run]));
  }
  return ranges;
}

std::vector<KeyRange> ClusterRanges(const PlanInput& input,
                                    const PartitionView& partition) {
  std::vector<KeyRange> ranges;
  for (const Cluster& cluster : partition.clusters) {
    KeyRange whole = RangeOf(input.runs[partition.runs[cluster.begin]]);
    for (std::size_t i = cluster.begin; i < cluster.end; ++i) {
      const KeyRange range = RangeOf(input.runs[partition.runs[i]]);
      if (!EndLess(whole, range)) continue;
      whole.last = range.last;
      whole.end = range.end;
    }
    ranges.push_back(whole);
  }
  return ranges;
}

std::vector<KeyRange> FileRanges(const PlanInput& input, const PartitionView& partition) {
  std::vector<KeyRange> ranges;
  for (const Chunk& file : partition.files) ranges.push_back(RangeOf(input, file));
  return ranges;
}

std::string PartitionText(const ExplainedPlan& explained,
                          const PartitionView& partition) {
  const Bucket& bucket = explained.input.buckets[partition.bucket];
  const types::PartitionSpec* spec = FindSpec(explained.input, bucket.spec_id);
  const PartitionLegend* legend = explained.legend.FindPartition(bucket.spec_id);
  if (spec == nullptr || legend == nullptr) {
    return fmt::format("a partition of spec {}", bucket.spec_id);
  }
  std::string text;
  for (std::size_t i = 0; i < spec->fields.size(); ++i) {
    const types::PartitionField& field = spec->fields[i];
    text += fmt::format(
        "{}{}={}", i == 0 ? "" : ", ", field.name,
        types::ToText(field.transform, legend->types[i], bucket.partition[i]));
  }
  return text.empty() ? "the table is not partitioned" : Printable(text);
}

PlanSummary Summarize(const ExplainedPlan& explained,
                      std::span<const PartitionView> partitions) {
  const Stats& stats = explained.plan.stats;
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  for (const PartitionView& partition : partitions) {
    bytes += partition.bytes;
    rows += partition.rows;
  }
  PlanSummary summary;
  summary.result =
      fmt::format("{} in {}, {}, {} → {}", CountOf(stats.row_groups, "run"),
                  CountOf(SizeOf(partitions), "partition"), SizeText(bytes),
                  CountOf(rows, "row"), CountOf(SizeOf(explained.plan.chunks), "file"));
  summary.details.push_back(
      fmt::format("{}, {} over the upper bound; small files joined: {}",
                  CountOf(stats.clusters, "cluster"), CountText(stats.oversized_clusters),
                  CountText(stats.tail_merges)));
  if (stats.overlap_depth_max) {
    summary.details.push_back(
        fmt::format("files over one key: at most {}", *stats.overlap_depth_max));
  }
  if (stats.uncut_parts > 0) {
    summary.details.push_back(fmt::format(
        "{} over the upper bound in which no key to cut at is known: files may overlap",
        CountOf(stats.uncut_parts, "part")));
  }
  return summary;
}

std::string Summarize(const PartitionView& partition) {
  const std::string clusters =
      partition.sorted ? " in " + CountOf(SizeOf(partition.clusters), "cluster") : "";
  return fmt::format("{}{}, {}, {} → {}", CountOf(SizeOf(partition.runs), "run"),
                     clusters, SizeText(partition.bytes), CountOf(partition.rows, "row"),
                     CountOf(SizeOf(partition.files), "file"));
}

std::string SummarizeRest(const PlanInput& input, std::span<const PartitionView> rest) {
  std::int64_t runs = 0;
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  std::int64_t depth = 0;
  for (const PartitionView& partition : rest) {
    runs += SizeOf(partition.runs);
    bytes += partition.bytes;
    files += SizeOf(partition.files);
    if (partition.sorted) {
      depth = std::max(depth, OverlapDepth(RunRanges(input, partition)));
    }
  }
  return fmt::format("{} more: {}, {} → {}; runs over one key: at most {}",
                     CountOf(SizeOf(rest), "partition"), CountOf(runs, "run"),
                     SizeText(bytes), CountOf(files, "file"), depth);
}

KeyTexts::KeyTexts(const ExplainedPlan& explained, const PartitionView& partition)
    : legend_(explained.legend.FindKeys(
          explained.input.buckets[partition.bucket].key_types)) {
  if (legend_ == nullptr) return;
  const KeyRange first = RangeOf(explained.input, partition.files.front());
  const KeyRange last = RangeOf(explained.input, partition.files.back());
  if (last.end == RangeEnd::kUnbounded) return;
  const Result<std::vector<types::Value>> low = legend_->encoder.Decode(first.first);
  const Result<std::vector<types::Value>> high = legend_->encoder.Decode(last.last);
  if (!low.ok() || !high.ok()) return;
  // Keys are in order: what the first and the last have in front, all between them have.
  for (std::size_t i = 0; i + 1 < std::min(low->size(), high->size()); ++i) {
    if ((*low)[i] != (*high)[i]) return;
    constants_.push_back(ValueText(*legend_, i, (*low)[i]));
  }
}

std::string KeyTexts::ColumnName(std::size_t column) const {
  const bool descends =
      legend_->encoder.columns()[column].direction == order::Direction::kDescending;
  return Printable(legend_->columns[column]) + (descends ? " desc" : "");
}

std::string KeyTexts::Columns() const {
  if (legend_ == nullptr) return "";
  std::string text;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    text += fmt::format("{}={}, ", Printable(legend_->columns[i]), constants_[i]);
  }
  std::vector<std::string> names;
  for (std::size_t i = constants_.size(); i < legend_->columns.size(); ++i) {
    names.push_back(ColumnName(i));
  }
  return text + Joined(names);
}

std::string KeyTexts::Text(std::string_view key) const {
  if (legend_ == nullptr) return HexOfKey(key);
  const Result<std::vector<types::Value>> values = legend_->encoder.Decode(key);
  if (!values.ok() || values->size() <= constants_.size()) return HexOfKey(key);
  std::vector<std::string> texts;
  for (std::size_t i = constants_.size(); i < values->size(); ++i) {
    texts.push_back(ValueText(*legend_, i, (*values)[i]));
  }
  return Joined(texts);
}

std::string KeyTexts::Last(const KeyRange& range) const {
  if (range.end == RangeEnd::kUnbounded) return "and above";
  return (range.end == RangeEnd::kExclusive ? "before " : "") + Text(range.last);
}

}  // namespace firn::planner
