#include "firn/shift/shift_figures.h"

#include <algorithm>

namespace firn::shift {
namespace {

constexpr double kMiB = 1 << 20;

metrics::MetricId Id(const char* name, const char* help, const std::string& table) {
  return {.name = fmt::format("firn_shift_{}", name),
          .help = help,
          .labels = {{"table", table}}};
}

}  // namespace

ShiftFigures FiguresOf(const PlannedIteration& iteration,
                       const WrittenIteration& written) {
  const planner::Stats& stats = iteration.plan.stats;
  ShiftFigures figures{
      .commits = 1,
      .segments = static_cast<std::int64_t>(iteration.segments.size()),
      .rows = written.rows,
      .verbatim_bytes = written.verbatim_bytes,
      .failover_rolls = written.failover_rolls,
      .clusters = stats.clusters,
      .oversized_clusters = stats.oversized_clusters,
      .uncut_parts = stats.uncut_parts,
      .tail_merges = stats.tail_merges,
      .overlap_depth_max = stats.overlap_depth_max,
  };
  figures.quarantined_segments = std::ranges::count_if(
      iteration.segments, [](const auto& segment) { return segment->is_quarantined(); });
  for (const auto& segment : iteration.segments) {
    figures.segment_bytes += segment->file->size_bytes();
  }
  for (const planner::Run& run : iteration.input.runs) figures.input_bytes += run.bytes;
  for (const iceberg::DataFile& file : written.batch.files) {
    figures.output_bytes += file.file_size_in_bytes;
    figures.file_bytes.push_back(file.file_size_in_bytes);
  }
  return figures;
}

void Add(const ShiftFigures& figures, ShiftFigures& sum) {
  sum.commits += figures.commits;
  sum.segments += figures.segments;
  sum.quarantined_segments += figures.quarantined_segments;
  sum.segment_bytes += figures.segment_bytes;
  sum.input_bytes += figures.input_bytes;
  sum.rows += figures.rows;
  sum.output_bytes += figures.output_bytes;
  sum.verbatim_bytes += figures.verbatim_bytes;
  sum.failover_rolls += figures.failover_rolls;
  sum.clusters += figures.clusters;
  sum.oversized_clusters += figures.oversized_clusters;
  sum.uncut_parts += figures.uncut_parts;
  sum.tail_merges += figures.tail_merges;
  sum.overlap_depth_max = std::max(sum.overlap_depth_max, figures.overlap_depth_max);
  std::ranges::copy(figures.file_bytes, std::back_inserter(sum.file_bytes));
}

ShiftMetrics::ShiftMetrics(metrics::Registry& registry, const std::string& table)
    : commits_(registry.GetCounter(Id("commits_total", "Commits of iterations.", table))),
      superseded_(registry.GetCounter(Id(
          "superseded_total",
          "Iterations in vain: another planner committed the same rows first.", table))),
      segments_(registry.GetCounter(
          Id("segments_total", "Segments of the WAL that were shifted.", table))),
      input_bytes_(registry.GetCounter(
          Id("input_bytes_total", "Compressed bytes of the runs shifted.", table))),
      rows_(registry.GetCounter(Id("rows_total", "Rows put into the table.", table))),
      output_bytes_(registry.GetCounter(
          Id("output_bytes_total", "Bytes of the data files.", table))),
      verbatim_bytes_(registry.GetCounter(
          Id("verbatim_bytes_total",
             "Compressed bytes of row groups copied without decoding.", table))),
      failover_rolls_(registry.GetCounter(
          Id("failover_rolls_total",
             "Files ended early because they passed writer_max_parquet_bytes.", table))),
      clusters_(registry.GetCounter(
          Id("planner_clusters_total", "Groups of runs whose keys overlap.", table))),
      oversized_clusters_(registry.GetCounter(
          Id("planner_oversized_clusters_total",
             "Clusters over upper_bound_input_bytes_per_task, cut into several files.",
             table))),
      uncut_parts_(registry.GetCounter(Id("planner_uncut_parts_total",
                                          "Parts over the upper bound in which no key to "
                                          "cut at is known: their files may "
                                          "overlap.",
                                          table))),
      quarantined_segments_(registry.GetCounter(
          Id("quarantined_segments_total",
             "Segments that an operator took out: their rows were left out.", table))),
      tail_merges_(registry.GetCounter(
          Id("planner_tail_merges_total",
             "Chunks below the lower bound that joined the one before.", table))),
      overlap_depth_(registry.GetGauge(
          Id("planner_overlap_depth",
             "Files of one partition over one key, at most, in the last iteration.",
             table))),
      file_bytes_(registry.GetHistogram(
          Id("file_bytes", "Sizes of the data files.", table),
          {kMiB, 8 * kMiB, 32 * kMiB, 48 * kMiB, 64 * kMiB, 96 * kMiB, 128 * kMiB,
           160 * kMiB, 256 * kMiB, 512 * kMiB})) {}

void ShiftMetrics::Count(const ShiftFigures& iteration) {
  commits_.Increment(iteration.commits);
  segments_.Increment(iteration.segments);
  input_bytes_.Increment(iteration.input_bytes);
  rows_.Increment(iteration.rows);
  output_bytes_.Increment(iteration.output_bytes);
  verbatim_bytes_.Increment(iteration.verbatim_bytes);
  failover_rolls_.Increment(iteration.failover_rolls);
  clusters_.Increment(iteration.clusters);
  oversized_clusters_.Increment(iteration.oversized_clusters);
  uncut_parts_.Increment(iteration.uncut_parts);
  quarantined_segments_.Increment(iteration.quarantined_segments);
  tail_merges_.Increment(iteration.tail_merges);
  if (iteration.overlap_depth_max) {
    overlap_depth_.Set(static_cast<double>(*iteration.overlap_depth_max));
  }
  for (const std::int64_t bytes : iteration.file_bytes) {
    file_bytes_.Observe(static_cast<double>(bytes));
  }
}

}  // namespace firn::shift
