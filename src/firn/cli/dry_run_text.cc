#include "firn/cli/dry_run_text.h"

#include <fmt/ranges.h>

#include "firn/cli/evolve_schema.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/terminal.h"
#include "firn/cli/units.h"
#include "firn/types/schema_changes.h"

namespace firn::cli {
namespace {

std::string OrNone(const std::string& text) {
  return text.empty() ? "none" : Printable(text);
}

std::string LayoutText(const DryRunView& run) {
  const bool is_new = run.metadata == nullptr;
  return fmt::format("partition by  {}\nsort by       {}\n",
                     OrNone(is_new ? run.partition_by : PartitionText(*run.metadata)),
                     OrNone(is_new ? run.sort_by : SortText(*run.metadata)));
}

std::string RecordsText(const DryRunView& run) {
  const CheckedRecords& records = run.records;
  return fmt::format("{} of {} {}, {} {} not\n", FormatCounted(records.fit, "record"),
                     FormatCounted(run.files, "file"), records.fit == 1 ? "fits" : "fit",
                     FormatCount(records.dead), records.dead == 1 ? "does" : "do");
}

}  // namespace

std::string DryRunText(const DryRunView& run) {
  std::string text =
      fmt::format("{}: {}\n{}\n{}\n{}", run.table,
                  run.metadata == nullptr ? "would be made" : "is there",
                  SchemaText(run.schema), LayoutText(run), RecordsText(run));
  if (run.metadata != nullptr &&
      CurrentSchema(*run.metadata).fields != run.schema.fields) {
    text += fmt::format(
        "the schema would change: {}\n",
        fmt::join(types::SchemaChanges(CurrentSchema(*run.metadata), run.schema), ", "));
  }
  for (const std::string& example : run.records.examples) {
    text += fmt::format("  {}\n", example);
  }
  return text;
}

}  // namespace firn::cli
