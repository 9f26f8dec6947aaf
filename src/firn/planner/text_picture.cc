#include "firn/planner/text_picture.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "firn/planner/key_axis.h"
#include "firn/planner/labels.h"

namespace firn::planner {
namespace {

constexpr int kWidthMin = 72;
constexpr int kLabelWidth = 12;
constexpr int kRunLinesMax = 10;
constexpr int kClusterLinesMax = 2;
constexpr int kFileLinesMax = 4;
constexpr int kGaugeWidth = 24;
/// Cells of the gauge up to the upper bound; what is left is for what passes it.
constexpr int kGaugeUpper = 20;

/// A size as a bar, with a tick at each bound that it does not reach.
std::string Gauge(std::int64_t bytes, const Limits& limits) {
  constexpr const char* kEighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  const auto upper = static_cast<double>(limits.upper_bound_input_bytes_per_task);
  const auto lower = static_cast<double>(limits.lower_bound_input_bytes_per_task);
  const double length = static_cast<double>(bytes) / upper * kGaugeUpper * 8;
  const int eighths =
      std::clamp(static_cast<int>(length), bytes > 0 ? 1 : 0, kGaugeWidth * 8);
  const int lower_tick = static_cast<int>(lower / upper * kGaugeUpper);
  std::string gauge;
  for (int cell = 0; cell < kGaugeWidth; ++cell) {
    const int filled = std::clamp(eighths - cell * 8, 0, 8);
    const bool is_tick = cell == lower_tick || cell == kGaugeUpper;
    gauge += filled == 0 && is_tick ? "╎" : kEighths[filled];
  }
  return gauge;
}

std::int64_t RunsInPart(const Chunk& file) {
  return std::ranges::count_if(file.runs,
                               [](const RunSlice& slice) { return !slice.is_whole(); });
}

class PartitionPicture {
 public:
  PartitionPicture(const ExplainedPlan& explained, const PictureOptions& options,
                   const PartitionView& partition)
      : explained_(explained),
        partition_(partition),
        keys_(explained, partition),
        width_(std::max(options.width, kWidthMin)),
        files_max_(static_cast<std::size_t>(std::max(options.files_max, 2))) {}

  std::string Draw() && {
    AddLine(Shortened(PartitionText(explained_, partition_),
                      static_cast<std::size_t>(width_)));
    AddLine("  " + Summarize(partition_));
    if (partition_.sorted) {
      AddKeySpace();
    } else {
      AddLine("  no sort order: runs are put together as they are");
    }
    AddLine("");
    AddFiles();
    return std::move(text_);
  }

 private:
  void AddLine(const std::string& line) { text_ += line + "\n"; }

  void AddLabelled(std::string_view label, std::span<const std::string> lines) {
    for (const std::string& line : lines) {
      AddLine(fmt::format("  {:<{}}{}", label, kLabelWidth - 2, line));
      label = "";
    }
  }

  void AddDepth(const KeyAxis& axis, std::span<const KeyRange> runs) {
    const std::int64_t depth = OverlapDepth({runs.begin(), runs.end()});
    const std::string labels[] = {"runs over", "one key", "≤ " + CountText(depth)};
    const std::vector<std::string> lines =
        axis.DrawDepth(runs, axis_width(), std::size(labels));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      AddLabelled(labels[i], std::span(lines).subspan(i, 1));
    }
  }

  int axis_width() const { return width_ - kLabelWidth; }

  void AddKeySpace() {
    const std::vector<KeyRange> runs = RunRanges(explained_.input, partition_);
    const std::vector<KeyRange> files = FileRanges(explained_.input, partition_);
    std::vector<KeyRange> all = runs;
    all.insert(all.end(), files.begin(), files.end());
    const KeyAxis axis(all);
    AddKeys(files);
    AddRuns(axis, runs);
    if (partition_.clusters.size() < partition_.runs.size()) AddClusters(axis);
    AddLabelled("files",
                axis.DrawBars(FileBars(files), kHeavyBars, axis_width(), kFileLinesMax));
  }

  /// The first key at the left end, the last at the right one.
  void AddKeys(std::span<const KeyRange> files) {
    const auto room = static_cast<std::size_t>(axis_width());
    const std::string columns = keys_.Columns();
    if (!columns.empty()) AddLabelled("keys", std::vector{Shortened(columns, room)});
    const std::string first = Shortened(keys_.First(files.front()), room / 2 - 2);
    const std::string last = Shortened(keys_.Last(files.back()), room / 2 - 2);
    const std::size_t gap = room - TextLength(first) - TextLength(last);
    AddLabelled("", std::vector{first + std::string(gap, ' ') + last});
  }

  void AddRuns(const KeyAxis& axis, std::span<const KeyRange> runs) {
    std::vector<Bar> bars;
    for (const KeyRange& range : runs) bars.push_back({.range = range});
    const std::vector<std::string> lines =
        axis.DrawBars(bars, kThinBars, axis_width(), kRunLinesMax);
    if (!lines.empty()) return AddLabelled("runs", lines);
    AddDepth(axis, runs);
  }

  void AddClusters(const KeyAxis& axis) {
    const std::vector<KeyRange> ranges = ClusterRanges(explained_.input, partition_);
    std::vector<Bar> bars;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Cluster& cluster = partition_.clusters[i];
      if (cluster.run_count() < 2) continue;
      bars.push_back(
          {.range = ranges[i], .labels = {" " + SizeText(cluster.bytes) + " "}});
    }
    AddLabelled("clusters",
                axis.DrawBars(bars, kBrackets, axis_width(), kClusterLinesMax));
  }

  std::vector<Bar> FileBars(std::span<const KeyRange> ranges) const {
    std::vector<Bar> bars;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      const std::string size = SizeText(partition_.files[i].bytes);
      bars.push_back({.range = ranges[i],
                      .labels = {fmt::format(" {}: {} ", number, size),
                                 fmt::format(" {} ", number), number}});
    }
    return bars;
  }

  void AddFiles() {
    const std::size_t count = partition_.files.size();
    const std::size_t shown = count <= files_max_ ? count : files_max_ - 1;
    for (std::size_t i = 0; i < shown; ++i) AddFile(i);
    if (shown == count) return;
    std::int64_t bytes = 0;
    for (const Chunk& file : partition_.files.subspan(shown)) bytes += file.bytes;
    AddLine(fmt::format("    …  {} more, {}",
                        CountOf(static_cast<std::int64_t>(count - shown), "file"),
                        SizeText(bytes)));
  }

  void AddFile(std::size_t index) {
    const Chunk& file = partition_.files[index];
    std::string line =
        fmt::format("  {:>3}  {:>10}  {}  {}, {}", index + 1, SizeText(file.bytes),
                    Gauge(file.bytes, explained_.limits), CountOf(file.rows, "row"),
                    CountOf(static_cast<std::int64_t>(file.runs.size()), "run"));
    const std::int64_t in_part = RunsInPart(file);
    if (in_part > 0) line += fmt::format(" ({} in part)", CountText(in_part));
    AddLine(line);
    if (partition_.sorted) AddRange(RangeOf(explained_.input, file));
  }

  void AddRange(const KeyRange& range) {
    constexpr int kIndent = 19;
    const auto room = static_cast<std::size_t>(width_ - kIndent);
    const std::string indent(kIndent, ' ');
    const std::string first = keys_.First(range);
    std::string last = keys_.Last(range);
    if (range.end != RangeEnd::kUnbounded) last = "to " + last;
    if (TextLength(first) + TextLength(last) < room) {
      return AddLine(indent + first + " " + last);
    }
    AddLine(indent + Shortened(first, room));
    AddLine(indent + Shortened(last, room));
  }

  const ExplainedPlan& explained_;
  const PartitionView& partition_;
  const KeyTexts keys_;
  const int width_;
  const std::size_t files_max_;
  std::string text_;
};

std::string Head(const ExplainedPlan& explained,
                 std::span<const PartitionView> partitions) {
  const PlanSummary summary = Summarize(explained, partitions);
  std::string text = summary.result + "\n";
  for (const std::string& line : summary.details) text += line + "\n";
  const Limits& limits = explained.limits;
  return text + fmt::format("bounds of a file (╎): {} to {}\n",
                            SizeText(limits.lower_bound_input_bytes_per_task),
                            SizeText(limits.upper_bound_input_bytes_per_task));
}

}  // namespace

std::string DrawPlan(const ExplainedPlan& explained, const PictureOptions& options) {
  if (explained.plan.chunks.empty()) return "nothing to move: no runs\n";
  const std::vector<PartitionView> partitions = PartitionsOf(explained);
  std::string text = Head(explained, partitions);
  const std::size_t shown = std::min(
      partitions.size(), static_cast<std::size_t>(std::max(options.partitions_max, 1)));
  for (std::size_t i = 0; i < shown; ++i) {
    text += "\n" + PartitionPicture(explained, options, partitions[i]).Draw();
  }
  const auto rest = std::span(partitions).subspan(shown);
  if (!rest.empty()) text += "\n" + SummarizeRest(explained.input, rest) + "\n";
  return text;
}

}  // namespace firn::planner
