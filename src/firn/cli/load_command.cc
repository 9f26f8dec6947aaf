#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include <fmt/ranges.h>

#include "firn/cli/commands.h"
#include "firn/cli/dry_run_text.h"
#include "firn/cli/evolve_schema.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/landing.h"
#include "firn/cli/load_input.h"
#include "firn/cli/load_layout.h"
#include "firn/cli/load_positions.h"
#include "firn/cli/log.h"
#include "firn/cli/progress.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/terminal.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/core/ulid.h"
#include "firn/shift/table_check.h"
#include "firn/sources/files/file_patterns.h"
#include "firn/sources/files/file_source.h"
#include "firn/sources/files/time_units.h"
#include "firn/sources/files/unknown_fields.h"
#include "firn/wal/load_manifest.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

/// What one run of `load` is about.
struct Load {
  std::string id;
  std::vector<std::string> files;
  sources::FileOptions options;
  wal::LoadManifest manifest;
};

Result<Load> LoadOf(const CommandContext& context, const LoadArguments& arguments) {
  Load load = {.id = arguments.id.value_or(NewUlid(context.runtime))};
  FIRN_RETURN_NOT_OK(AsUsageError(wal::CheckLoadId(load.id)));
  FIRN_RETURN_NOT_OK(CheckInput(arguments));
  FIRN_ASSIGN_OR_RETURN(load.options, FileOptionsOf(arguments));
  FIRN_ASSIGN_OR_RETURN(load.files, sources::ExpandFiles(arguments.files));
  FIRN_ASSIGN_OR_RETURN(load.manifest, ManifestOf(arguments, load.files));
  return load;
}

sources::FileLoad FileLoadOf(const LoadArguments& arguments, const Load& load,
                             const types::Schema& schema) {
  return {.table = arguments.table,
          .load_id = load.id,
          .files = load.files,
          .schema = schema,
          .options = load.options};
}

/// Where the records go.
struct Target {
  /// Nothing if it has to be made.
  std::optional<OpenTable> table;
  /// Of the table once it takes the records.
  types::Schema schema;

  bool is_ready() const {
    return table && CurrentSchema(table->metadata()).fields == schema.fields;
  }
};

Result<OpenTable> Create(Workspace& workspace, const LoadArguments& arguments,
                         const types::Schema& schema) {
  auto created = CreateTable(workspace, arguments.table,
                             {.schema = schema,
                              .partition_by = arguments.partition_by,
                              .sort_by = arguments.sort_by});
  // Another load may have made it meanwhile.
  if (IsError(created.status(), ErrorKind::kAlreadyExists)) {
    return FindTable(workspace, arguments.table);
  }
  return created;
}

Status CheckExisting(const OpenTable& table, const LoadArguments& arguments) {
  // What cannot be shifted must not be acknowledged.
  FIRN_RETURN_NOT_OK(shift::CheckShiftable(table.metadata()));
  return CheckLayout(table, arguments);
}

Result<Target> ExistingTarget(const CommandContext& context,
                              const LoadArguments& arguments, const Load& load,
                              OpenTable table) {
  FIRN_RETURN_NOT_OK(CheckExisting(table, arguments));
  FIRN_ASSIGN_OR_RETURN(
      types::Schema schema,
      SchemaWanted(context, arguments, table.metadata(), load.files, load.options));
  return Target{.table = std::move(table), .schema = std::move(schema)};
}

/// NotFound if there is no such table, and --create does not allow to make it.
Result<Target> FindTarget(Workspace& workspace, const CommandContext& context,
                          const LoadArguments& arguments, const Load& load) {
  FIRN_ASSIGN_OR_RETURN(auto found, FindTableIfThere(workspace, arguments.table));
  if (found) return ExistingTarget(context, arguments, load, *std::move(found));
  if (!arguments.create) return FindTable(workspace, arguments.table).status();
  FIRN_RETURN_NOT_OK(CheckNewName(context.config, arguments.table));
  Target target;
  FIRN_ASSIGN_OR_RETURN(const types::Schema schema,
                        SchemaForNewTable(context, arguments, load.files, load.options));
  FIRN_ASSIGN_OR_RETURN(target.schema, sources::WithUnknownFieldsColumn(
                                           schema, arguments.unknown_fields_column));
  return target;
}

/// Invalid if the load was begun with other files or options.
Status CheckFrozen(Workspace& workspace, const OpenTable& table, const Load& load) {
  const auto frozen =
      wal::ReadLoad(workspace.wal_store(), table.metadata().table_uuid, load.id);
  if (IsError(frozen.status(), ErrorKind::kNotFound)) return Status::OK();
  FIRN_RETURN_NOT_OK(frozen.status());
  return CheckSameLoad(load.id, *frozen, load.manifest);
}

/// Freezes what the load reads under its id.
Status Freeze(Workspace& workspace, const OpenTable& table, const Load& load) {
  FIRN_ASSIGN_OR_RETURN(
      const wal::LoadManifest frozen,
      wal::FreezeLoad(workspace.wal_store(), table.metadata().table_uuid, load.id,
                      load.manifest));
  return CheckSameLoad(load.id, frozen, load.manifest);
}

/// How far the records of a load are durable already.
struct Durable {
  Reached rows;
  /// The table of dead letters, if it holds some of this load.
  std::optional<OpenTable> dead_letter_table;
  Reached dead_letters;
};

std::vector<std::string> SourcesOf(const Load& load) {
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < load.files.size(); ++i) {
    sources.push_back(wal::LoadSourceId(load.id, i));
  }
  return sources;
}

Result<Durable> FindDurableRecords(Workspace& workspace, const OpenTable& table,
                                   const WalId& wal_id, const Load& load) {
  const std::vector<std::string> sources = SourcesOf(load);
  Durable durable;
  FIRN_ASSIGN_OR_RETURN(durable.rows, FindDurable(workspace, table, wal_id, sources));
  FIRN_ASSIGN_OR_RETURN(auto letters,
                        FindDeadLetterTable(workspace, ToString(table.identifier)));
  if (!letters) return durable;
  FIRN_ASSIGN_OR_RETURN(durable.dead_letters,
                        FindDurable(workspace, *letters, wal_id, sources));
  if (!durable.dead_letters.empty()) durable.dead_letter_table = *std::move(letters);
  return durable;
}

/// By index of the file, where both its rows and its dead letters are durable.
std::map<std::size_t, std::int64_t> FirstRecords(const Durable& durable,
                                                 const Load& load) {
  std::map<std::size_t, std::int64_t> first;
  const std::vector<std::string> sources = SourcesOf(load);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto rows = durable.rows.find(sources[i]);
    if (rows == durable.rows.end()) continue;
    const auto letters = durable.dead_letters.find(sources[i]);
    const bool has_letters = letters != durable.dead_letters.end();
    first[i] = has_letters ? std::min(rows->second, letters->second) : rows->second;
  }
  return first;
}

bool CanBeReadTwice(const std::vector<std::string>& files) {
  return std::ranges::all_of(files, [](const std::string& file) {
    std::error_code error;
    return std::filesystem::is_regular_file(file, error);
  });
}

Status StrictFailure(const std::string& dead_letter) {
  return InvalidError("{}; nothing was landed (--strict)", dead_letter);
}

/// Reads every record before the first is durable, so that a load whose files cannot be
/// read to their end lands nothing; with --strict, nor does one with a record that does
/// not fit. Standard input and pipes can be read only once, and are not.
///
/// `makes_table`: it is not there yet, and of records that none fits shall not be made.
Status CheckBeforeLanding(const CommandContext& context, const LoadArguments& arguments,
                          sources::FileLoad load, bool makes_table) {
  if (!CanBeReadTwice(load.files)) return Status::OK();
  const std::int64_t dead_max =
      arguments.strict ? 1 : std::numeric_limits<std::int64_t>::max();
  FIRN_ASSIGN_OR_RETURN(const CheckedRecords checked,
                        CheckRecords(context, std::move(load), dead_max));
  if (checked.dead == 0) return Status::OK();
  if (arguments.strict) return StrictFailure(checked.examples.front());
  if (checked.fit > 0 || !makes_table) return Status::OK();
  return InvalidError("{}; no record of {} fits, so the table was not made",
                      checked.examples.front(), FormatCount(checked.dead));
}

/// Reads the source to its end, and makes every record durable.
Status FillWal(const CommandContext& context, Landing& landing,
               sources::FileSource& source, const LoadArguments& arguments) {
  Progress progress(context.runtime, "load " + arguments.table,
                    source.progress().bytes_total.value_or(0));
  std::int64_t records = 0;
  while (true) {
    FIRN_ASSIGN_OR_RETURN(std::optional<sources::SourceBatch> batch,
                          source.Next(context.stop));
    if (!batch) return landing.Close();
    if (arguments.strict && !batch->dead_letters.empty()) {
      return InvalidError("{}; records before it may be durable already (--strict)",
                          sources::DeadLetterText(batch->dead_letters.front()));
    }
    records += batch->delivery.range->next - batch->delivery.range->first;
    FIRN_RETURN_NOT_OK(landing.Append(*std::move(batch), context.stop));
    progress.Update(source.progress().bytes_read, FormatCount(records) + " records");
  }
}

void WarnOfDeadLetters(const OpenTable& table, const Landing& landing,
                       const LoadArguments& arguments) {
  const std::int64_t dead = landing.dead_letter_count();
  if (dead == 0) return;
  const std::string letters = ToString(landing.dead_letter_table()->identifier);
  const std::string place =
      arguments.wal_only ? fmt::format("in the WAL for {} ('firn shift {}' brings",
                                       letters, table.identifier) +
                               (dead == 1 ? " it" : " them") + " there)"
                         : fmt::format("in {} ('firn dead-letters show {}' lists them)",
                                       letters, table.identifier);
  LogWarning(fmt::format("{} {} not fit and {} {}; the first: {}", FormatCount(dead),
                         dead == 1 ? "record does" : "records do",
                         dead == 1 ? "is" : "are", place, landing.first_dead_letter()));
}

/// Of a load that landed no row.
std::string NothingLanded(const Load& load, const Durable& durable, std::int64_t dead) {
  if (dead > 0) return fmt::format("none of {} fits", FormatCounted(dead, "record"));
  if (durable.rows.empty()) return "nothing to add, there is no record in the input";
  return fmt::format("nothing to add, every record of load {} is durable already",
                     load.id);
}

void ReportLanded(const OpenTable& table, const Load& load, const Durable& durable,
                  Landing& landing, Duration duration) {
  const wal::TableBufferCounts counts = landing.counts();
  if (counts.rows == 0) {
    fmt::print("{}: {}\n", table.identifier,
               NothingLanded(load, durable, landing.dead_letter_count()));
    return;
  }
  fmt::print("{}: {} durable in {}, {}, in {}\n", table.identifier,
             FormatCounted(counts.rows, "row"), FormatCounted(counts.segments, "segment"),
             FormatBytes(counts.segment_bytes), FormatDuration(duration));
}

/// Lands a load in a table that is there.
class LoadRun {
 public:
  /// `is_checked`: CheckBeforeLanding was done. All references must outlive the run.
  LoadRun(Workspace& workspace, const CommandContext& context,
          const LoadArguments& arguments, const Load& load, const OpenTable& table,
          bool is_checked)
      : workspace_(workspace),
        context_(context),
        arguments_(arguments),
        load_(load),
        table_(table),
        is_checked_(is_checked) {}

  Status Run() {
    FIRN_RETURN_NOT_OK(wal::CheckOutsideTable(workspace_.wal_store().Location(""),
                                              table_.metadata().location));
    FIRN_ASSIGN_OR_RETURN(wal_id_,
                          wal::OpenWalRoot(context_.runtime, workspace_.wal_store()));
    FIRN_RETURN_NOT_OK(CheckFrozen(workspace_, table_, load_));
    FIRN_ASSIGN_OR_RETURN(durable_,
                          FindDurableRecords(workspace_, table_, wal_id_, load_));
    sources::FileLoad files =
        FileLoadOf(arguments_, load_, CurrentSchema(table_.metadata()));
    files.first_records = FirstRecords(durable_, load_);
    if (!is_checked_) {
      FIRN_RETURN_NOT_OK(CheckBeforeLanding(context_, arguments_, files, false));
    }
    FIRN_ASSIGN_OR_RETURN(const auto source, sources::FileSource::Make(std::move(files)));
    FIRN_RETURN_NOT_OK(source->Open());
    FIRN_RETURN_NOT_OK(Freeze(workspace_, table_, load_));
    if (!arguments_.id) Announce(fmt::format("load {}", load_.id));
    FIRN_ASSIGN_OR_RETURN(const auto landing,
                          Landing::Make(workspace_, table_, durable_.dead_letter_table));
    const Status status = LandAndShift(*source, *landing);
    if (!status.ok()) TellHowToGoOn(landing->counts().rows);
    return status;
  }

 private:
  Status LandAndShift(sources::FileSource& source, Landing& landing) {
    const BootTime begin = context_.runtime.SinceBoot();
    FIRN_RETURN_NOT_OK(FillWal(context_, landing, source, arguments_));
    FIRN_RETURN_NOT_OK(End(table_));
    const auto& letters = landing.dead_letter_table();
    if (letters) FIRN_RETURN_NOT_OK(End(*letters));
    ReportLanded(table_, load_, durable_, landing, context_.runtime.SinceBoot() - begin);
    WarnOfDeadLetters(table_, landing, arguments_);
    if (arguments_.wal_only) return Status::OK();
    FIRN_RETURN_NOT_OK(ShiftLanded(workspace_, table_, wal_id_, landing.reached(),
                                   durable_.rows, context_.stop));
    if (!letters) return Status::OK();
    return ShiftLanded(workspace_, *letters, wal_id_, landing.dead_letters_reached(),
                       durable_.dead_letters, context_.stop);
  }

  Status End(const OpenTable& table) {
    return wal::EndLoad(workspace_.wal_store(), table.metadata().table_uuid, load_.id);
  }

  /// `rows` became durable before it failed, or was stopped.
  void TellHowToGoOn(std::int64_t rows) {
    const bool has_records = rows > 0 || !durable_.rows.empty();
    const std::string how =
        fmt::format("the same command{} with --id {}",
                    CanBeReadTwice(load_.files) ? "" : " and input", load_.id);
    if (!has_records)
      return Announce(fmt::format("load {}: {} begins it anew", load_.id, how));
    Announce(fmt::format(
        "load {}: {} durable and will be in the table with its next shift; {} goes on "
        "behind them, and without the id they would be added twice",
        load_.id,
        rows > 0 ? FormatCounted(rows, "row") + (rows == 1 ? " is" : " are")
                 : "its records are",
        how));
  }

  Workspace& workspace_;
  const CommandContext& context_;
  const LoadArguments& arguments_;
  const Load& load_;
  const OpenTable& table_;
  const bool is_checked_;
  WalId wal_id_;
  Durable durable_;
};

/// Says what would be made of the files.
Status DryRun(const CommandContext& context, const LoadArguments& arguments,
              const Load& load, const Target& target) {
  FIRN_ASSIGN_OR_RETURN(const CheckedRecords checked,
                        CheckRecords(context, FileLoadOf(arguments, load, target.schema),
                                     std::numeric_limits<std::int64_t>::max()));
  fmt::print("{}",
             DryRunText({.table = arguments.table,
                         .metadata = target.table ? &target.table->metadata() : nullptr,
                         .schema = target.schema,
                         .partition_by = arguments.partition_by,
                         .sort_by = arguments.sort_by,
                         .files = std::ssize(load.files),
                         .records = checked}));
  if (arguments.strict && checked.dead > 0)
    return StrictFailure(checked.examples.front());
  return Status::OK();
}

}  // namespace

Status RunLoad(const CommandContext& context, const LoadArguments& given) {
  LoadArguments arguments = given;
  arguments.unknown_fields_column = UnknownFieldsColumn(context, given);
  FIRN_ASSIGN_OR_RETURN(const Load load, LoadOf(context, arguments));
  arguments.evolve_schema = EvolvesSchema(context, arguments, CanBeReadTwice(load.files));
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kCreate));
  FIRN_ASSIGN_OR_RETURN(const Target target,
                        FindTarget(*workspace, context, arguments, load));
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(
      sources::CheckTimeUnits(load.options.time_units, target.schema), "--time-unit")));
  if (!target.table) FIRN_RETURN_NOT_OK(CheckNewLayout(target.schema, arguments));
  if (arguments.dry_run) return DryRun(context, arguments, load, target);
  if (target.is_ready()) {
    return LoadRun(*workspace, context, arguments, load, *target.table, false).Run();
  }
  // Before the table is made or changed, so that what cannot be loaded does neither.
  if (target.table) FIRN_RETURN_NOT_OK(CheckFrozen(*workspace, *target.table, load));
  FIRN_RETURN_NOT_OK(CheckBeforeLanding(context, arguments,
                                        FileLoadOf(arguments, load, target.schema),
                                        /*makes_table=*/!target.table));
  FIRN_ASSIGN_OR_RETURN(OpenTable table,
                        target.table ? Result<OpenTable>(*target.table)
                                     : Create(*workspace, arguments, target.schema));
  if (!target.table) {
    Announce(fmt::format("{} lies in {}", table.identifier, table.metadata().location));
  }
  if (target.table || arguments.evolve_schema) {
    FIRN_ASSIGN_OR_RETURN(
        table, EvolveSchema(context, *workspace, std::move(table), target.schema));
  }
  FIRN_RETURN_NOT_OK(CheckExisting(table, arguments));
  return LoadRun(*workspace, context, arguments, load, table, true).Run();
}

}  // namespace firn::cli
