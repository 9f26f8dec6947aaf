#include "firn/planner/text_picture.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "firn/planner/bucket.h"
#include "firn/planner/cluster.h"
#include "firn/planner/key_axis.h"
#include "firn/planner/key_range.h"
#include "firn/types/single_value.h"

namespace firn::planner {
namespace {

constexpr int kWidthMin = 40;
constexpr int kLabelWidth = 9;
constexpr int kRunLinesMax = 6;
constexpr int kFileLinesMax = 4;

// ---- words and numbers ----

std::string CountText(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string CountOf(std::int64_t count, const char* thing) {
  return fmt::format("{} {}{}", CountText(count), thing, count == 1 ? "" : "s");
}

std::string SizeText(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  for (; size >= kStep && unit + 1 < std::size(kUnits); ++unit) size /= kStep;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none, or
/// with one that controls a terminal.
std::size_t PrintableLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const bool is_control = first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
  return is_control ? 0 : length;
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const std::size_t length = PrintableLength(text);
    printable += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return printable;
}

/// At most `length_max` characters of `text`, which is UTF-8.
std::string Shortened(const std::string& text, std::size_t length_max) {
  std::size_t length = 0;
  std::size_t end_of_shortened = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsContinuation(text[i])) continue;
    if (length + 1 == length_max) end_of_shortened = i;
    if (++length > length_max) return text.substr(0, end_of_shortened) + "…";
  }
  return text;
}

std::string KeyText(const KeyLegend* keys, std::string_view key) {
  if (keys == nullptr) return HexOfKey(key);
  const Result<std::vector<types::Value>> values = keys->encoder.Decode(key);
  if (!values.ok()) return HexOfKey(key);
  std::string text = "(";
  for (std::size_t i = 0; i < values->size(); ++i) {
    if (i > 0) text += ", ";
    text += types::ToText(keys->encoder.columns()[i].type, (*values)[i]);
  }
  return Printable(text + ")");
}

std::string PartitionText(const PlanInput& input, const Bucket& bucket,
                          const Legend& legend) {
  const types::PartitionSpec* spec = FindSpec(input, bucket.spec_id);
  const PartitionLegend* partition = legend.FindPartition(bucket.spec_id);
  if (spec == nullptr || partition == nullptr) {
    return fmt::format("a partition of spec {}", bucket.spec_id);
  }
  std::string text;
  for (std::size_t i = 0; i < spec->fields.size(); ++i) {
    const types::PartitionField& field = spec->fields[i];
    text += fmt::format(
        "{}{}={}", i == 0 ? "" : ", ", field.name,
        types::ToText(field.transform, partition->types[i], bucket.partition[i]));
  }
  return text.empty() ? "the table is not partitioned" : Printable(text);
}

// ---- one partition ----

/// The chunks of one bucket, and the runs that they hold.
struct Partition {
  std::span<const Chunk> chunks;
  std::vector<std::uint32_t> runs = {};
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
};

Partition Summarize(std::span<const Chunk> chunks) {
  Partition partition{.chunks = chunks};
  for (const Chunk& chunk : chunks) {
    partition.bytes += chunk.bytes;
    partition.rows += chunk.rows;
    for (const RunSlice& slice : chunk.runs) {
      if (!slice.from_key) partition.runs.push_back(slice.run);
    }
  }
  return partition;
}

std::vector<Partition> PartitionsOf(const Plan& plan) {
  std::vector<Partition> partitions;
  std::span<const Chunk> rest = plan.chunks;
  while (!rest.empty()) {
    const auto end = std::ranges::find_if(
        rest, [&](const Chunk& chunk) { return chunk.bucket != rest.front().bucket; });
    const std::size_t count = end - rest.begin();
    partitions.push_back(Summarize(rest.first(count)));
    rest = rest.subspan(count);
  }
  return partitions;
}

std::vector<KeyRange> RunRanges(const PlanInput& input, const Partition& partition) {
  std::vector<KeyRange> ranges;
  for (const std::uint32_t run : partition.runs) {
    ranges.push_back(RangeOf(input.runs[run]));
  }
  return ranges;
}

std::vector<KeyRange> FileRanges(const PlanInput& input, const Partition& partition) {
  std::vector<KeyRange> ranges;
  for (const Chunk& chunk : partition.chunks) ranges.push_back(RangeOf(input, chunk));
  return ranges;
}

std::int64_t ClusterCount(const PlanInput& input, const Partition& partition) {
  BucketRuns bucket{.bucket = partition.chunks.front().bucket, .runs = partition.runs};
  SortRuns(input, bucket);
  return static_cast<std::int64_t>(ClusterByKeyRange(input, bucket).size());
}

class PartitionPicture {
 public:
  PartitionPicture(const PlanInput& input, const Legend& legend,
                   const PictureOptions& options, const Partition& partition)
      : input_(input),
        legend_(legend),
        partition_(partition),
        bucket_(input.buckets[partition.chunks.front().bucket]),
        width_(std::max(options.width, kWidthMin)),
        files_max_(static_cast<std::size_t>(std::max(options.files_max, 2))),
        sorted_(!bucket_.key_types.empty()) {}

  std::string Draw() && {
    AddLine(Shortened(PartitionText(input_, bucket_, legend_),
                      static_cast<std::size_t>(width_)));
    AddHead();
    if (sorted_) AddKeySpace();
    AddFiles();
    return std::move(text_);
  }

 private:
  void AddLine(const std::string& line) { text_ += line + "\n"; }

  void AddHead() {
    const auto runs = static_cast<std::int64_t>(partition_.runs.size());
    const auto files = static_cast<std::int64_t>(partition_.chunks.size());
    const std::string clusters =
        sorted_ ? " in " + CountOf(ClusterCount(input_, partition_), "cluster") : "";
    AddLine(fmt::format("  {}{}, {}, {} -> {}", CountOf(runs, "run"), clusters,
                        SizeText(partition_.bytes), CountOf(partition_.rows, "row"),
                        CountOf(files, "file")));
    if (!sorted_) AddLine("  no sort order: runs are put together as they are");
  }

  void AddKeySpace() {
    const std::vector<KeyRange> runs = RunRanges(input_, partition_);
    const std::vector<KeyRange> files = FileRanges(input_, partition_);
    AddLine(fmt::format("  runs over one key: {}, files over one key: {}",
                        OverlapDepth(runs), OverlapDepth(files)));
    std::vector<KeyRange> all = runs;
    all.insert(all.end(), files.begin(), files.end());
    const KeyAxis axis(all, width_ - kLabelWidth);
    std::vector<std::string> lines = axis.DrawBars(runs, {}, kRunLinesMax);
    const bool has_bars = !lines.empty();
    if (!has_bars) lines.push_back(axis.DrawDepth(runs));
    AddLabelled(has_bars ? "runs" : "depth", lines);
    AddLabelled("files", axis.DrawBars(files, FileNumbers(), kFileLinesMax));
  }

  std::vector<std::string> FileNumbers() const {
    std::vector<std::string> numbers;
    for (std::size_t i = 1; i <= partition_.chunks.size(); ++i) {
      numbers.push_back(std::to_string(i));
    }
    return numbers;
  }

  void AddLabelled(const char* label, std::span<const std::string> lines) {
    for (const std::string& line : lines) {
      AddLine(fmt::format("  {:<{}}{}", label, kLabelWidth - 2, line));
      label = "";
    }
  }

  void AddFiles() {
    const std::size_t count = partition_.chunks.size();
    const std::size_t shown = count <= files_max_ ? count : files_max_ - 1;
    for (std::size_t i = 0; i < shown; ++i) AddFile(i);
    if (shown == count) return;
    std::int64_t bytes = 0;
    for (const Chunk& chunk : partition_.chunks.subspan(shown)) bytes += chunk.bytes;
    AddLine(fmt::format("     ...  {} more, {}",
                        CountOf(static_cast<std::int64_t>(count - shown), "file"),
                        SizeText(bytes)));
  }

  void AddFile(std::size_t index) {
    const Chunk& chunk = partition_.chunks[index];
    const std::int64_t in_part = std::ranges::count_if(
        chunk.runs, [](const RunSlice& slice) { return !slice.is_whole(); });
    std::string line =
        fmt::format("  {:>4}  {:>10}  {:>12}  {}", index + 1, SizeText(chunk.bytes),
                    CountOf(chunk.rows, "row"),
                    CountOf(static_cast<std::int64_t>(chunk.runs.size()), "run"));
    if (in_part > 0) line += fmt::format(" ({} in part)", CountText(in_part));
    AddLine(line);
    if (sorted_) AddRange(RangeOf(input_, chunk));
  }

  void AddRange(const KeyRange& range) {
    const KeyLegend* keys = legend_.FindKeys(bucket_.key_types);
    const auto room = static_cast<std::size_t>(width_ - kLabelWidth);
    const std::string first = KeyText(keys, range.first);
    const std::string last = LastText(keys, range);
    const std::string indent(kLabelWidth, ' ');
    if (first.size() + last.size() < room) {
      AddLine(indent + first + " " + last);
      return;
    }
    AddLine(indent + Shortened(first, room));
    AddLine(indent + Shortened(last, room));
  }

  static std::string LastText(const KeyLegend* keys, const KeyRange& range) {
    switch (range.end) {
      case RangeEnd::kUnbounded:
        return "and above";
      case RangeEnd::kInclusive:
        return "to " + KeyText(keys, range.last);
      case RangeEnd::kExclusive:
        return "to before " + KeyText(keys, range.last);
    }
    return "";
  }

  const PlanInput& input_;
  const Legend& legend_;
  const Partition& partition_;
  const Bucket& bucket_;
  const int width_;
  const std::size_t files_max_;
  const bool sorted_;
  std::string text_;
};

// ---- the whole ----

std::string Head(const Plan& plan, std::span<const Partition> partitions) {
  const Stats& stats = plan.stats;
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  for (const Partition& partition : partitions) {
    bytes += partition.bytes;
    rows += partition.rows;
  }
  std::string text =
      fmt::format("{} in {}, {}, {} -> {}\n", CountOf(stats.row_groups, "run"),
                  CountOf(static_cast<std::int64_t>(partitions.size()), "partition"),
                  SizeText(bytes), CountOf(rows, "row"),
                  CountOf(static_cast<std::int64_t>(plan.chunks.size()), "file"));
  text += fmt::format("{}, {} over the upper bound; small files joined: {}",
                      CountOf(stats.clusters, "cluster"),
                      CountText(stats.oversized_clusters), CountText(stats.tail_merges));
  if (stats.overlap_depth_max) {
    text += fmt::format("; files over one key: at most {}", *stats.overlap_depth_max);
  }
  if (stats.uncut_parts > 0) {
    text += fmt::format(
        "\n{} over the upper bound without a key to cut at: there files "
        "overlap",
        CountOf(stats.uncut_parts, "part"));
  }
  return text + "\n";
}

std::string Remainder(const PlanInput& input, std::span<const Partition> partitions) {
  std::int64_t runs = 0;
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  std::int64_t depth = 0;
  for (const Partition& partition : partitions) {
    runs += static_cast<std::int64_t>(partition.runs.size());
    bytes += partition.bytes;
    files += static_cast<std::int64_t>(partition.chunks.size());
    const Bucket& bucket = input.buckets[partition.chunks.front().bucket];
    if (bucket.key_types.empty()) continue;
    depth = std::max(depth, OverlapDepth(RunRanges(input, partition)));
  }
  return fmt::format("\n{} more: {}, {} -> {}; runs over one key: at most {}\n",
                     CountOf(static_cast<std::int64_t>(partitions.size()), "partition"),
                     CountOf(runs, "run"), SizeText(bytes), CountOf(files, "file"),
                     depth);
}

}  // namespace

std::string DrawPlan(const PlanInput& input, const Plan& plan, const Legend& legend,
                     const PictureOptions& options) {
  if (plan.chunks.empty()) return "nothing to move: no runs\n";
  const std::vector<Partition> partitions = PartitionsOf(plan);
  std::string text = Head(plan, partitions);
  const std::size_t shown = std::min(
      partitions.size(), static_cast<std::size_t>(std::max(options.partitions_max, 1)));
  for (std::size_t i = 0; i < shown; ++i) {
    text += "\n" + PartitionPicture(input, legend, options, partitions[i]).Draw();
  }
  const auto rest = std::span(partitions).subspan(shown);
  if (!rest.empty()) text += Remainder(input, rest);
  return text;
}

}  // namespace firn::planner
