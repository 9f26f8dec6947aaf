#include "firn/planner/svg_picture.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "firn/planner/key_axis.h"
#include "firn/planner/labels.h"
#include "firn/planner/svg_canvas.h"

namespace firn::planner {
namespace {

// ---- measures, in pixels ----

constexpr double kWidth = 1200;
constexpr double kMargin = 28;
constexpr double kPanelPadding = 20;
constexpr double kPanelGap = 16;
constexpr double kAxisLeft = 128;
constexpr double kAxisWidth = 660;
constexpr double kGaugeLeft = 868;
constexpr double kGaugeUpper = 150;  // of the upper bound
constexpr double kGaugeWidth = 190;
constexpr double kTextRight = kWidth - kMargin - kPanelPadding;
constexpr double kLaneHeight = 9;
constexpr double kLaneGap = 3;
constexpr double kCurveHeight = 72;
constexpr double kFileHeight = 36;
constexpr double kFileRow = 20;
constexpr double kBarWidthMin = 1.5;
/// Of a letter in labels of files and clusters.
constexpr double kBoldLetter = 7;
constexpr double kSmallLetter = 5.9;
constexpr double kKeyLetter = 6.7;

// ---- limits ----

constexpr int kLanesMax = 28;
constexpr std::size_t kBarsMax = 1500;
constexpr std::size_t kBandsMax = 300;
constexpr std::size_t kColours = 7;

constexpr std::string_view kStyle = R"(
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
font-size:12px;fill:#1d2733}
.paper{fill:#fff}.panel{fill:#f6f8fa;stroke:#dfe4ea}
.head{font-size:20px;font-weight:600}.name{font-size:14px;font-weight:600}
.muted{fill:#5d6b7a}.small{font-size:10.5px}.low{fill:#9a6200}.high{fill:#c0322b}
.key{font-family:ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;
font-size:11px}
.end{text-anchor:end}.middle{text-anchor:middle}.bold{font-weight:600}
.on{fill:#fff}.rule{stroke:#aab4bf}.bound{stroke:#5d6b7a;stroke-dasharray:3 2}
.cut{stroke:#5d6b7a;stroke-dasharray:2 3}
.cluster{fill:#dbe8f8}.oversized{fill:#fbdcbc}.curve{fill:#8fa3b8}.track{fill:#e6eaef}
.c0{fill:#2f6fc4}.c1{fill:#b4611a}.c2{fill:#26855c}.c3{fill:#9c4a8b}.c4{fill:#5f58b8}
.c5{fill:#197f90}.c6{fill:#86691a}
@media(prefers-color-scheme:dark){
text{fill:#e4e8ed}.paper{fill:#12161b}.panel{fill:#1a2027;stroke:#2e3742}
.muted{fill:#9aa7b5}.low{fill:#e0a94a}.high{fill:#f0847d}.on{fill:#fff}
.rule{stroke:#55616e}.bound,.cut{stroke:#9aa7b5}
.cluster{fill:#23374d}.oversized{fill:#57371a}.curve{fill:#5f7387}.track{fill:#2a323c}}
)";

std::string ColourOf(std::size_t file) { return fmt::format("c{}", file % kColours); }

bool IsFitting(std::string_view text, double letter, double room) {
  return static_cast<double>(TextLength(text)) * letter <= room;
}

std::string FittedKey(const std::string& text, double room) {
  return Shortened(text, static_cast<std::size_t>(room / kKeyLetter));
}

Box OnAxis(const KeyAxis::Extent& extent, double y, double height) {
  const double left = kAxisLeft + extent.begin * kAxisWidth;
  const double width = (extent.end - extent.begin) * kAxisWidth;
  // Neighbours are told apart by a gap, as long as something is left of them.
  return {.x = left,
          .y = y,
          .width = std::max(width - 1, std::min(kBarWidthMin, std::max(width, 0.5))),
          .height = height};
}

// ---- one partition ----

/// Draws a panel from `top` down.
class PartitionPanel {
 public:
  PartitionPanel(const ExplainedPlan& explained, const SvgOptions& options,
                 const PartitionView& partition, double top, SvgCanvas& page)
      : explained_(explained),
        partition_(partition),
        keys_(explained, partition),
        files_max_(static_cast<std::size_t>(std::max(options.files_max, 2))),
        top_(top),
        page_(page) {}

  /// Returns the panel's lower edge.
  double Draw() && {
    const double content = top_ + 52;
    DrawHead();
    const double left_end =
        partition_.sorted ? DrawKeySpace(content) : DrawFilesBySize(content);
    const double right_end = DrawSizes(content);
    const double bottom = std::max(left_end, right_end) + kPanelPadding;
    page_.DrawBox(
        {.x = kMargin, .y = top_, .width = kWidth - 2 * kMargin, .height = bottom - top_},
        "panel");
    page_.Append(std::move(canvas_));
    return bottom;
  }

 private:
  void DrawHead() {
    const double left = kMargin + kPanelPadding;
    canvas_.DrawText({left, top_ + 26}, "name",
                     Shortened(PartitionText(explained_, partition_), 90));
    canvas_.DrawText({kTextRight, top_ + 26}, "muted end", Summarize(partition_));
  }

  void DrawLabel(double y, std::string_view text) {
    canvas_.DrawText({kMargin + kPanelPadding, y}, "muted", text);
  }

  // -- the key space --

  double DrawKeySpace(double y) {
    const std::vector<KeyRange> runs = RunRanges(explained_.input, partition_);
    const std::vector<KeyRange> files = FileRanges(explained_.input, partition_);
    std::vector<KeyRange> all = runs;
    all.insert(all.end(), files.begin(), files.end());
    const KeyAxis axis(all);
    y = DrawKeys(files, y);
    const std::vector<int> lanes = axis.LanesOf(runs);
    const int lane_count = 1 + *std::max_element(lanes.begin(), lanes.end());
    const bool has_bars = lane_count <= kLanesMax && runs.size() <= kBarsMax;
    const double height =
        has_bars ? lane_count * (kLaneHeight + kLaneGap) - kLaneGap : kCurveHeight;
    const double cluster_end = DrawClusters(axis, y, height);
    if (has_bars) {
      DrawLabel(y + kLaneHeight + 4, "runs");
      DrawRuns(axis, lanes, y + 5);
    } else {
      DrawCurve(axis, runs, y + 5);
    }
    DrawCuts(axis, files, y, y + height + 10);
    return DrawFiles(axis, files, cluster_end + 4);
  }

  /// The columns, and the keys at both ends of the axis.
  double DrawKeys(std::span<const KeyRange> files, double y) {
    DrawLabel(y, "keys");
    canvas_.DrawText({kAxisLeft, y}, "key muted", FittedKey(keys_.Columns(), kAxisWidth));
    y += 18;
    const double half = kAxisWidth / 2 - 8;
    canvas_.DrawText({kAxisLeft, y}, "key", FittedKey(keys_.First(files.front()), half));
    canvas_.DrawText({kAxisLeft + kAxisWidth, y}, "key end",
                     FittedKey(keys_.Last(files.back()), half));
    y += 7;
    canvas_.DrawLine({kAxisLeft, y}, {kAxisLeft + kAxisWidth, y}, "rule");
    return y + 5;
  }

  /// Shades behind the runs, and what each cluster weighs below them.
  double DrawClusters(const KeyAxis& axis, double y, double height) {
    const std::vector<KeyRange> ranges = ClusterRanges(explained_.input, partition_);
    const double label_y = y + height + 23;
    bool has_labels = false;
    for (std::size_t i = 0; i < ranges.size() && ranges.size() <= kBandsMax; ++i) {
      const Cluster& cluster = partition_.clusters[i];
      const Box band = OnAxis(axis.ExtentOf(ranges[i]), y, height + 10);
      const bool is_oversized =
          cluster.bytes > explained_.limits.upper_bound_input_bytes_per_task;
      canvas_.DrawBox(band, is_oversized ? "oversized" : "cluster");
      if (cluster.run_count() < 2) continue;
      const std::string label = fmt::format("{}, {}", SizeText(cluster.bytes),
                                            CountOf(cluster.run_count(), "run"));
      if (!IsFitting(label, kSmallLetter, band.width)) continue;
      has_labels = true;
      canvas_.DrawText({band.x + band.width / 2, label_y}, "small muted middle", label);
    }
    if (!has_labels) return y + height + 10;
    DrawLabel(label_y, "clusters");
    return label_y + 4;
  }

  /// Every run in its lane, in the colours of the files that take it.
  void DrawRuns(const KeyAxis& axis, std::span<const int> lanes, double y) {
    std::map<std::uint32_t, int> lane_of_run;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lane_of_run[partition_.runs[i]] = lanes[i];
    }
    for (std::size_t file = 0; file < partition_.files.size(); ++file) {
      for (const RunSlice& slice : partition_.files[file].runs) {
        const double lane_y = y + lane_of_run.at(slice.run) * (kLaneHeight + kLaneGap);
        const KeyRange range = RangeOf(explained_.input, slice);
        canvas_.DrawBox(OnAxis(axis.ExtentOf(range), lane_y, kLaneHeight), ColourOf(file),
                        Tooltip(slice, range));
      }
    }
  }

  std::string Tooltip(const RunSlice& slice, const KeyRange& range) const {
    const Run& run = explained_.input.runs[slice.run];
    return fmt::format("{} row group {}{}: {}, {}\n{} to {}",
                       Printable(explained_.input.segments[run.segment]), run.row_group,
                       slice.is_whole() ? "" : ", in part", SizeText(slice.bytes),
                       CountOf(slice.rows, "row"), keys_.First(range), keys_.Last(range));
  }

  void DrawCurve(const KeyAxis& axis, std::span<const KeyRange> runs, double y) {
    const auto pieces = static_cast<int>(kAxisWidth);
    const std::vector<std::int64_t> depths = axis.DepthsOf(runs, pieces);
    const std::int64_t deepest = *std::max_element(depths.begin(), depths.end());
    std::vector<Point> corners = {{kAxisLeft, y + kCurveHeight}};
    for (int i = 0; i < pieces; ++i) {
      const double height = static_cast<double>(depths[i]) /
                            static_cast<double>(std::max<std::int64_t>(deepest, 1)) *
                            kCurveHeight;
      // Two corners for each step: equal heights need none in between.
      if (i > 0 && depths[i] == depths[i - 1]) {
        corners.back().x = kAxisLeft + i + 1;
        continue;
      }
      corners.push_back({kAxisLeft + i, y + kCurveHeight - height});
      corners.push_back({kAxisLeft + i + 1, y + kCurveHeight - height});
    }
    corners.push_back({kAxisLeft + kAxisWidth, y + kCurveHeight});
    canvas_.DrawArea(corners, "curve");
    DrawLabel(y + 12, "runs over");
    DrawLabel(y + 28, "one key");
    DrawLabel(y + 44, fmt::format("≤ {}", CountText(deepest)));
  }

  void DrawCuts(const KeyAxis& axis, std::span<const KeyRange> files, double top,
                double bottom) {
    if (files.size() > kBandsMax) return;
    for (const KeyRange& file : files.subspan(1)) {
      const double x = kAxisLeft + axis.ExtentOf(file).begin * kAxisWidth - 0.5;
      canvas_.DrawLine({x, top}, {x, bottom}, "cut");
    }
  }

  double DrawFiles(const KeyAxis& axis, std::span<const KeyRange> files, double y) {
    const std::vector<int> lanes = axis.LanesOf(files);
    const int lane_count = 1 + *std::max_element(lanes.begin(), lanes.end());
    // Files that overlap are lower, so that many of them find room.
    const double height = lane_count == 1 ? kFileHeight : kFileHeight / 2;
    DrawLabel(y + height / 2 + 4, "files");
    if (files.size() > kBarsMax || lane_count > kLanesMax) {
      canvas_.DrawText({kAxisLeft, y + 20}, "muted", "too many to tell apart");
      return y + kFileHeight;
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      const double lane_y = y + lanes[i] * (height + kLaneGap);
      DrawFile(i, OnAxis(axis.ExtentOf(files[i]), lane_y, height),
               fmt::format("\n{} to {}", keys_.First(files[i]), keys_.Last(files[i])));
    }
    return y + lane_count * (height + kLaneGap);
  }

  void DrawFile(std::size_t index, const Box& box, const std::string& keys) {
    const Chunk& file = partition_.files[index];
    const std::string size = fmt::format("{}: {}", index + 1, SizeText(file.bytes));
    const std::string content =
        fmt::format("{}, {}", CountOf(file.rows, "row"),
                    CountOf(static_cast<std::int64_t>(file.runs.size()), "run"));
    canvas_.DrawBox(box, ColourOf(index),
                    fmt::format("file {}, {}{}", size, content, keys));
    const bool has_content =
        box.height >= kFileHeight && IsFitting(content, kSmallLetter, box.width - 8);
    const double centre = box.x + box.width / 2;
    const double middle = box.y + box.height / 2;
    const std::string number = std::to_string(index + 1);
    const bool has_size = IsFitting(size, kBoldLetter, box.width - 6);
    if (!has_size && !IsFitting(number, kBoldLetter, box.width - 2)) return;
    canvas_.DrawText({centre, middle + (has_content ? -2 : 4)}, "on bold middle",
                     has_size ? size : number);
    if (has_content) {
      canvas_.DrawText({centre, middle + 12}, "on small middle", content);
    }
  }

  /// Without a sort order there is no key space: files stand side by side by their size.
  double DrawFilesBySize(double y) {
    canvas_.DrawText({kAxisLeft, y}, "muted",
                     "no sort order: runs are put together as they are");
    DrawLabel(y + 34, "files");
    double begin = 0;
    for (std::size_t i = 0; i < std::min(partition_.files.size(), kBarsMax); ++i) {
      const double share =
          static_cast<double>(partition_.files[i].bytes) /
          static_cast<double>(std::max<std::int64_t>(partition_.bytes, 1));
      DrawFile(i, OnAxis({.begin = begin, .end = begin + share}, y + 12, kFileHeight),
               "");
      begin += share;
    }
    return y + 12 + kFileHeight;
  }

  // -- sizes against the bounds --

  double GaugeX(std::int64_t bytes) const {
    const auto upper =
        static_cast<double>(explained_.limits.upper_bound_input_bytes_per_task);
    return kGaugeLeft +
           std::min(static_cast<double>(bytes) / upper * kGaugeUpper, kGaugeWidth);
  }

  double DrawSizes(double y) {
    const std::size_t count = partition_.files.size();
    const std::size_t shown = count <= files_max_ ? count : files_max_ - 1;
    const double lower = GaugeX(explained_.limits.lower_bound_input_bytes_per_task);
    const double upper = GaugeX(explained_.limits.upper_bound_input_bytes_per_task);
    canvas_.DrawText({lower + 1, y}, "small muted end",
                     SizeText(explained_.limits.lower_bound_input_bytes_per_task));
    canvas_.DrawText({upper - 1, y}, "small muted",
                     SizeText(explained_.limits.upper_bound_input_bytes_per_task));
    const double first = y + 8;
    for (std::size_t i = 0; i < shown; ++i) {
      DrawSize(i, first + static_cast<double>(i) * kFileRow);
    }
    const double end = first + static_cast<double>(shown) * kFileRow;
    for (const double bound : {lower, upper}) {
      canvas_.DrawLine({bound, first - 3}, {bound, end - 4}, "bound");
    }
    if (shown == count) return end;
    std::int64_t bytes = 0;
    for (const Chunk& file : partition_.files.subspan(shown)) bytes += file.bytes;
    canvas_.DrawText(
        {kGaugeLeft, end + 12}, "muted",
        fmt::format("… {} more, {}",
                    CountOf(static_cast<std::int64_t>(count - shown), "file"),
                    SizeText(bytes)));
    return end + kFileRow;
  }

  void DrawSize(std::size_t index, double y) {
    const Chunk& file = partition_.files[index];
    const double text_y = y + 11;
    canvas_.DrawText({kGaugeLeft - 8, text_y}, "muted end", std::to_string(index + 1));
    canvas_.DrawBox(
        {.x = kGaugeLeft, .y = y + 1, .width = kGaugeWidth, .height = kFileRow - 8},
        "track");
    canvas_.DrawBox({.x = kGaugeLeft,
                     .y = y + 1,
                     .width = std::max(GaugeX(file.bytes) - kGaugeLeft, kBarWidthMin),
                     .height = kFileRow - 8},
                    ColourOf(index));
    const auto [classes, mark] = Verdict(file.bytes);
    canvas_.DrawText({kTextRight, text_y}, fmt::format("end {}", classes),
                     fmt::format("{}{}", SizeText(file.bytes), mark));
  }

  /// How a size is coloured, and the mark behind it. One that reads like the bound is not
  /// over it.
  std::pair<std::string_view, std::string_view> Verdict(std::int64_t bytes) const {
    const std::int64_t upper = explained_.limits.upper_bound_input_bytes_per_task;
    if (bytes < explained_.limits.lower_bound_input_bytes_per_task) return {"low", " ↓"};
    if (bytes > upper && SizeText(bytes) != SizeText(upper)) return {"high", " ↑"};
    return {"", ""};
  }

  const ExplainedPlan& explained_;
  const PartitionView& partition_;
  const KeyTexts keys_;
  const std::size_t files_max_;
  const double top_;
  SvgCanvas& page_;
  /// What stands on the panel, whose height is known only after that.
  SvgCanvas canvas_;
};

// ---- the whole ----

/// One entry of the key to the picture; returns where the next one may begin.
double DrawEntry(Point at, std::string_view colour, std::string_view text,
                 SvgCanvas& canvas) {
  constexpr double kSwatch = 14;
  canvas.DrawBox({.x = at.x, .y = at.y - 9, .width = kSwatch, .height = 10}, colour);
  canvas.DrawText({at.x + kSwatch + 6, at.y}, "muted", text);
  return at.x + kSwatch + 6 + static_cast<double>(TextLength(text)) * 6.6 + 22;
}

void DrawKeyToColours(double y, SvgCanvas& canvas) {
  double x = kMargin;
  canvas.DrawBox({.x = x, .y = y - 9, .width = 7, .height = 10}, "c0");
  canvas.DrawBox({.x = x + 8, .y = y - 9, .width = 7, .height = 10}, "c1");
  canvas.DrawText({x + 21, y}, "muted", "runs and the file they go to");
  x += 228;
  x = DrawEntry({x, y}, "cluster", "cluster: runs that touch", canvas);
  x = DrawEntry({x, y}, "oversized", "cluster over the upper bound", canvas);
  canvas.DrawText({x, y}, "low", "↓");
  canvas.DrawText({x + 12, y}, "muted", "below the lower bound");
  canvas.DrawText({x + 168, y}, "high", "↑");
  canvas.DrawText({x + 180, y}, "muted", "over the upper bound");
}

double DrawPageHead(const ExplainedPlan& explained,
                    std::span<const PartitionView> partitions, SvgCanvas& canvas) {
  const PlanSummary summary = Summarize(explained, partitions);
  double y = 44;
  canvas.DrawText({kMargin, y}, "head", summary.result);
  std::string details;
  for (const std::string& detail : summary.details) {
    details += (details.empty() ? "" : "; ") + detail;
  }
  y += 22;
  canvas.DrawText({kMargin, y}, "muted", details);
  y += 28;
  DrawKeyToColours(y, canvas);
  return y + 18;
}

}  // namespace

std::string DrawPlanAsSvg(const ExplainedPlan& explained, const SvgOptions& options) {
  SvgCanvas canvas;
  if (explained.plan.chunks.empty()) {
    canvas.DrawText({kMargin, 44}, "head", "nothing to move: no runs");
    return std::move(canvas).Finish(kWidth, 72, "a plan without runs", kStyle);
  }
  const std::vector<PartitionView> partitions = PartitionsOf(explained);
  double y = DrawPageHead(explained, partitions, canvas);
  const std::size_t shown = std::min(
      partitions.size(), static_cast<std::size_t>(std::max(options.partitions_max, 1)));
  for (std::size_t i = 0; i < shown; ++i) {
    y = PartitionPanel(explained, options, partitions[i], y, canvas).Draw() + kPanelGap;
  }
  const auto rest = std::span(partitions).subspan(shown);
  if (!rest.empty()) {
    canvas.DrawText({kMargin, y + 12}, "muted", SummarizeRest(explained.input, rest));
    y += 28;
  }
  return std::move(canvas).Finish(kWidth, y + kMargin - kPanelGap,
                                  Summarize(explained, partitions).result, kStyle);
}

}  // namespace firn::planner
