#include <sys/ioctl.h>
#include <unistd.h>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/file_text.h"
#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"
#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/planner/case_file.h"
#include "firn/planner/plan_json.h"
#include "firn/planner/svg_picture.h"
#include "firn/planner/text_picture.h"

namespace firn::cli {
namespace {

constexpr int kDefaultWidth = 100;

int OutputWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kDefaultWidth;
  }
  return size.ws_col;
}

/// What the keys and partition values of the table's runs mean, also under older orders
/// and specs.
Result<planner::Legend> LegendOf(const iceberg::TableMetadata& metadata) {
  planner::Legend legend;
  for (const order::SortOrder& order : metadata.sort_orders) {
    FIRN_ASSIGN_OR_RETURN(planner::KeyLegend keys,
                          planner::ExplainKeys(order, SchemaFor(metadata, order)));
    legend.keys.push_back(std::move(keys));
  }
  for (const types::PartitionSpec& spec : metadata.partition_specs) {
    FIRN_ASSIGN_OR_RETURN(planner::PartitionLegend partition,
                          planner::ExplainPartition(spec, SchemaFor(metadata, spec)));
    legend.partitions.push_back(std::move(partition));
  }
  return legend;
}

void Print(const planner::ExplainedPlan& explained, PlanFormat format) {
  switch (format) {
    case PlanFormat::kJson:
      fmt::print("{}\n",
                 RenderPlanJson(explained.input, explained.plan, explained.legend));
      return;
    case PlanFormat::kSvg:
      fmt::print("{}", DrawPlanAsSvg(explained));
      return;
    case PlanFormat::kText:
      fmt::print("{}", DrawPlan(explained, {.width = OutputWidth()}));
      return;
  }
}

Status Export(const planner::ExplainedPlan& explained, const std::string& file) {
  FIRN_ASSIGN_OR_RETURN(
      const std::string text,
      WriteCaseFile(explained.input, explained.limits, explained.legend));
  return WriteFileText(file, text);
}

Status Finish(const planner::ExplainedPlan& explained, const PlanArguments& arguments) {
  if (!arguments.export_file.empty()) {
    FIRN_RETURN_NOT_OK(AddContext(Export(explained, arguments.export_file), "--export"));
  }
  Print(explained, arguments.format);
  return Status::OK();
}

Status PlanCase(const CommandContext& context, const PlanArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, ReadFileText(arguments.input));
  auto file = planner::ParseCaseFile(text);
  if (!file.ok()) return AsUsageError(AddContext(file.status(), arguments.input));
  const auto plan = MakePlan(file->input, file->limits, context.stop);
  if (IsError(plan.status(), ErrorKind::kCancelled)) return plan.status();
  if (!plan.ok()) return AsUsageError(AddContext(plan.status(), arguments.input));
  return Finish({.input = file->input,
                 .limits = file->limits,
                 .plan = *plan,
                 .legend = file->legend},
                arguments);
}

Status PlanTable(const CommandContext& context, const PlanArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, arguments.table));
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id, WalIdForReading(*workspace));
  wal::WalReader reader(context.runtime, workspace->wal_store());
  shift::TableShift shift = MakeTableShift(*workspace, reader, table, wal_id);
  FIRN_ASSIGN_OR_RETURN(const shift::PlannedIteration iteration,
                        shift.Plan(context.stop));
  FIRN_ASSIGN_OR_RETURN(const planner::Legend legend, LegendOf(iteration.start.metadata));
  return Finish({.input = iteration.input,
                 .limits = iteration.limits,
                 .plan = iteration.plan,
                 .legend = legend},
                arguments);
}

}  // namespace

Status RunPlan(const CommandContext& context, const PlanArguments& arguments) {
  if (arguments.table.empty() == arguments.input.empty()) {
    return AsUsageError(InvalidError("name a table, or a case file with --input"));
  }
  return arguments.input.empty() ? PlanTable(context, arguments)
                                 : PlanCase(context, arguments);
}

}  // namespace firn::cli
