#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/cli/config.h"
#include "firn/cli/workspace.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::cli {

enum class OutputFormat { kText, kJson };

/// What every command is handed. Results go to stdout, all else to stderr.
struct CommandContext {
  const Config& config;
  Runtime& runtime;
  StopToken stop;
  /// Put around every store that the command opens; for tests that make them fail.
  StoreWrapper wrap_store = {};
};

/// The workspace that a command works in. As Workspace::Open.
Result<std::unique_ptr<Workspace>> OpenWorkspace(const CommandContext& context,
                                                 WorkspaceMode mode);

/// The stores alone, for a command that looks at one file.
Result<std::unique_ptr<Stores>> OpenStores(const CommandContext& context);

struct LoadArguments {
  std::string table;
  /// Paths and patterns; "-" is standard input.
  std::vector<std::string> files;
  bool create = false;
  std::string schema_file;
  std::string partition_by;
  std::string sort_by;
  /// Empty: told by each file's name or content.
  std::string format;
  std::vector<std::string> null_values;
  std::string delimiter;
  bool no_header = false;
  /// "COLUMN=UNIT" each.
  std::vector<std::string> time_units;
  bool ignore_unknown = false;
  /// Of NDJSON: the column that unknown fields go to; empty if they do not.
  std::string unknown_fields_column;
  bool evolve_schema = false;
  bool strict = false;
  bool dry_run = false;
  bool wal_only = false;
  std::optional<std::string> id;
};

/// Lands files in a table and, without wal_only, ends when the table covers them. Records
/// that do not fit land in its table of dead letters; with strict, nothing lands then.
Status RunLoad(const CommandContext& context, const LoadArguments& given);

struct ShiftArguments {
  std::string table;
  bool all = false;
};

/// Moves what the WAL holds into the table, once.
Status RunShift(const CommandContext& context, const ShiftArguments& arguments);

/// Takes records over HTTP, makes them durable and shifts them, until it is asked to
/// stop; then it makes durable what it took, and ends within `shutdown_timeout`.
Status RunServe(const CommandContext& context);

enum class PlanFormat { kText, kJson, kSvg };

struct PlanArguments {
  /// Of the two exactly one is given.
  std::string table;
  std::string input;
  PlanFormat format = PlanFormat::kText;
  /// File that the plan's input is written to, as a case file; none if empty.
  std::string export_file;
};

/// Prints what a shift would do now, or what the planner makes of a case file.
Status RunPlan(const CommandContext& context, const PlanArguments& arguments);

Status RunInspectWal(const CommandContext& context, const std::string& name,
                     OutputFormat format);
Status RunInspectSegment(const CommandContext& context, const std::string& file,
                         OutputFormat format);
Status RunInspectTable(const CommandContext& context, const std::string& name,
                       OutputFormat format);
Status RunInspectFiles(const CommandContext& context, const std::string& name,
                       OutputFormat format);
Status RunInspectSnapshots(const CommandContext& context, const std::string& name,
                           OutputFormat format);
/// Prints a table as a metadata file describes it; no catalog is asked.
Status RunInspectMetadata(const CommandContext& context, const std::string& file,
                          OutputFormat format);
/// Prints a manifest or a manifest list.
Status RunInspectManifest(const CommandContext& context, const std::string& file,
                          OutputFormat format);

struct TableCreateArguments {
  std::string table;
  /// Of the two exactly one is given: a file with an Iceberg schema as JSON, or the text
  /// that types::ParseColumnList reads.
  std::string schema_file;
  std::string columns;
  std::string partition_by;
  std::string sort_by;
  /// "NAME=VALUE" each.
  std::vector<std::string> properties;
};

Status RunTableCreate(const CommandContext& context,
                      const TableCreateArguments& arguments);
Status RunTableList(const CommandContext& context, OutputFormat format);

struct TableDropArguments {
  std::string table;
  /// Also if rows of it wait in the WAL, which nobody can shift afterwards.
  bool force = false;
  /// The table of its dead letters, too.
  bool dead_letters = false;
};

Status RunTableDrop(const CommandContext& context, const TableDropArguments& arguments);

struct DeadLettersShowArguments {
  /// The table whose dead letters these are.
  std::string table;
  /// The most letters that are shown.
  std::int64_t limit = 100;
  OutputFormat format = OutputFormat::kText;
};

Status RunDeadLettersShow(const CommandContext& context,
                          const DeadLettersShowArguments& arguments);

/// Tries a table's dead letters against its present schema. What fits is landed, exactly
/// once, and leaves the dead letters; what does not stays.
Status RunDeadLettersReplay(const CommandContext& context, const std::string& name);

/// Looks at everything that the configuration names, changes nothing, prints a line each;
/// fails if one is wrong.
Status RunCheck(const CommandContext& context, OutputFormat format);

Status RunPositionsShow(const CommandContext& context, const std::string& table_name,
                        OutputFormat format);

struct PositionsResetArguments {
  std::string table;
  /// Of the two exactly one: take the rows that main lost again, or leave them out.
  bool to_table = false;
  bool keep = false;
  /// Also if rows of other WALs were lost: whether those have them is not looked into.
  bool all_wals = false;
  bool dry_run = false;
};

/// Ends the stop of a table that was rolled back.
Status RunPositionsReset(const CommandContext& context,
                         const PositionsResetArguments& arguments);

struct WalQuarantineArguments {
  std::string table;
  /// "<shard>/<sequence>", or as a message names them.
  std::vector<std::string> segments;
  /// Else it only says what would be left out.
  bool yes = false;
};

/// Takes segments that cannot be read out of the way of their shards.
Status RunWalQuarantine(const CommandContext& context,
                        const WalQuarantineArguments& arguments);

struct WalReleaseArguments {
  std::string table;
  std::string segment;
};

/// Brings a segment back that no shift has passed yet.
Status RunWalRelease(const CommandContext& context, const WalReleaseArguments& arguments);

}  // namespace firn::cli
