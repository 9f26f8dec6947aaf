#include <map>

#include "firn/cli/command_line.h"
#include "firn/cli/units.h"
#include "firn/cli/why_stuck_command.h"

// What each command takes.

namespace firn::cli {

void CommandLine::AddGlobalOptions() {
  app_.add_option("--config", global_.config.file,
                  "configuration file (else $FIRN_CONFIG, else ./firn.yaml)")
      ->type_name("FILE");
  app_.add_option("--warehouse", global_.config.warehouse,
                  "folder of the tables (default: warehouse)")
      ->type_name("DIR");
  app_.add_option("--log-level", global_.log.level, "what is logged on stderr")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app_.add_option("--log-format", global_.log.format, "how it is logged")
      ->check(CLI::IsMember({"text", "json"}));
}

CLI::App& CommandLine::Add(CLI::App& parent, const std::string& name,
                           const std::string& help, Command run) {
  CLI::App& command = *parent.add_subcommand(name, help);
  command.fallthrough();
  command.callback([this, run = std::move(run)] { chosen_ = run; });
  return command;
}

CLI::App& CommandLine::AddPlain(const std::string& name, const std::string& help,
                                std::function<Status()> run) {
  CLI::App& command = *app_.add_subcommand(name, help);
  command.fallthrough();
  command.callback([this, run = std::move(run)] { plain_ = run; });
  return command;
}

CLI::App& CommandLine::AddGroup(const std::string& name, const std::string& help) {
  CLI::App& group = *app_.add_subcommand(name, help);
  group.require_subcommand(1);
  group.fallthrough();
  return group;
}

void CommandLine::AddFormat(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--format",
          [this](const std::string& name) {
            format_ = name == "json" ? OutputFormat::kJson : OutputFormat::kText;
          },
          "how the result is printed")
      ->check(CLI::IsMember({"text", "json"}));
}

void CommandLine::AddTableName(CLI::App& command, std::string& table) {
  command.add_option("TABLE", table, "its name: namespace.table")->required();
}

void CommandLine::AddLayout(CLI::App& command, std::string& partition_by,
                            std::string& sort_by) {
  command
      .add_option("--partition-by", partition_by,
                  "columns and transforms: 'tenant_id, day(ts), bucket(16, id)'")
      ->type_name("TERMS");
  command
      .add_option("--sort-by", sort_by,
                  "columns with direction: 'service asc nulls first, ts desc'")
      ->type_name("TERMS");
}

void CommandLine::AddLoad() {
  CLI::App& load =
      Add(app_, "load", "land files in a table, then exit",
          [this](const CommandContext& context) { return RunLoad(context, load_); });
  AddTableName(load, load_.table);
  load.add_option("FILE", load_.files,
                  "CSV, NDJSON or Parquet files, plain, .gz or .zst; patterns; - is "
                  "standard input (not of Parquet; --create then needs --schema)")
      ->required();
  load.add_flag("--create", load_.create, "make the table if it is missing");
  load.add_option("--schema", load_.schema_file,
                  "its Iceberg schema as JSON (else told from the files)")
      ->type_name("FILE");
  AddLayout(load, load_.partition_by, load_.sort_by);
  AddLoadFormat(load);
  load.add_flag("--strict", load_.strict,
                "land nothing if a record does not fit; else it becomes a dead letter");
  load.add_flag("--dry-run", load_.dry_run,
                "read the files, print the schema and what does not fit, land nothing");
  load.add_flag("--wal-only", load_.wal_only, "stop once the records are in the WAL");
  load.add_option("--id", load_.id,
                  "name of this load: run again, it goes on and adds nothing twice");
}

void CommandLine::AddLoadFormat(CLI::App& load) {
  load.add_option("--format", load_.format, "of the files (else told by name, content)")
      ->check(CLI::IsMember({"csv", "ndjson", "parquet"}));
  load.add_option("--null-value", load_.null_values,
                  "text that stands for null in CSV, beside an empty value")
      ->allow_extra_args(false);
  load.add_option("--delimiter", load_.delimiter,
                  "character between the values of CSV, '\\t' for a tab (default: ',')");
  load.add_flag("--no-header", load_.no_header,
                "the first line of CSV is a record; columns as in the table");
  load.add_option("--time-unit", load_.time_units,
                  "what the numbers of a timestamp column count: s, ms, us or ns")
      ->type_name("COLUMN=UNIT")
      ->allow_extra_args(false);
  CLI::Option* ignore = load.add_flag("--ignore-unknown", load_.ignore_unknown,
                                      "leave out columns that the table does not have");
  // Columns that are new have no name then.
  CLI::Option* evolve =
      load.add_flag(
              "--evolve-schema", load_.evolve_schema,
              "add columns that the table does not have, and widen those that it has")
          ->excludes(ignore)
          ->excludes("--no-header");
  load.add_option("--unknown-fields-column", load_.unknown_fields_column,
                  "keep fields of NDJSON that the table does not have in this column, a "
                  "map<string, string>, which is added if it is missing")
      ->type_name("NAME")
      ->excludes(ignore)
      ->excludes(evolve);
}

void CommandLine::AddShift() {
  CLI::App& shift =
      Add(app_, "shift", "move what the WAL holds into the table, then exit",
          [this](const CommandContext& context) { return RunShift(context, shift_); });
  CLI::Option* table =
      shift.add_option("TABLE", shift_.table, "its name: namespace.table");
  CLI::Option* all = shift.add_flag("--all", shift_.all, "every table of the catalog");
  all->excludes(table);
}

void CommandLine::AddServe() {
  Add(app_, "serve", "take records over HTTP and land them, until stopped", RunServe);
}

void CommandLine::AddPlan() {
  CLI::App& plan =
      Add(app_, "plan", "print what a shift would do now, changing nothing",
          [this](const CommandContext& context) { return RunPlan(context, plan_); });
  CLI::Option* table = plan.add_option("TABLE", plan_.table, "its name: namespace.table");
  plan.add_option("--input", plan_.input, "plan the runs of a case file instead")
      ->type_name("CASE.json")
      ->excludes(table);
  plan.add_option("--export", plan_.export_file,
                  "also write what is planned to a case file, for --input")
      ->type_name("CASE.json");
  static const std::map<std::string, PlanFormat> kFormats = {{"text", PlanFormat::kText},
                                                             {"json", PlanFormat::kJson},
                                                             {"svg", PlanFormat::kSvg}};
  plan.add_option_function<std::string>(
          "--format",
          [this](const std::string& name) { plan_.format = kFormats.at(name); },
          "how the plan is printed")
      ->check(CLI::IsMember({"text", "json", "svg"}));
}

void CommandLine::AddInspect() {
  CLI::App& inspect = AddGroup("inspect", "look into the WAL or a table");
  using Inspect = Status (*)(const CommandContext&, const std::string&, OutputFormat);
  const auto add = [&](const char* name, const char* argument, const char* help,
                       Inspect run) {
    CLI::App& command =
        Add(inspect, name, help, [=, this](const CommandContext& context) {
          return run(context, subject_, format_);
        });
    command
        .add_option(argument, subject_,
                    std::string_view(argument) == "TABLE" ? "its name: namespace.table"
                                                          : "its path")
        ->required();
    AddFormat(command);
  };
  add("wal", "TABLE", "segments, shards and what is not in the table yet", RunInspectWal);
  add("segment", "FILE", "the runs of one segment", RunInspectSegment);
  add("table", "TABLE", "schema, layout, snapshots", RunInspectTable);
  add("files", "TABLE", "data files with their sizes and key ranges", RunInspectFiles);
  add("snapshots", "TABLE", "all snapshots, and the branches and tags that name them",
      RunInspectSnapshots);
  add("manifest", "FILE", "a manifest or manifest list, bounds decoded",
      RunInspectManifest);
  add("metadata", "FILE", "the table as one of its metadata files describes it",
      RunInspectMetadata);
}

void CommandLine::AddTable() {
  CLI::App& table = AddGroup("table", "create, list and drop tables");
  CLI::App& create =
      Add(table, "create", "make an empty table", [this](const CommandContext& context) {
        return RunTableCreate(context, table_create_);
      });
  AddTableName(create, table_create_.table);
  create
      .add_option("--columns", table_create_.columns,
                  "name and type of each: 'ts timestamptz not null, service string'")
      ->type_name("COLUMNS");
  create
      .add_option("--schema", table_create_.schema_file,
                  "the columns as an Iceberg schema in JSON")
      ->type_name("FILE");
  AddLayout(create, table_create_.partition_by, table_create_.sort_by);
  create
      .add_option("--property", table_create_.properties,
                  "a table property, such as write.parquet.compression-codec=zstd")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);

  CLI::App& list = Add(
      table, "list", "all tables of the catalog",
      [this](const CommandContext& context) { return RunTableList(context, format_); });
  AddFormat(list);

  CLI::App& show = Add(table, "show", "the same as inspect table",
                       [this](const CommandContext& context) {
                         return RunInspectTable(context, subject_, format_);
                       });
  AddTableName(show, subject_);
  AddFormat(show);

  CLI::App& drop = Add(table, "drop", "forget a table; its files stay",
                       [this](const CommandContext& context) {
                         return RunTableDrop(context, table_drop_);
                       });
  AddTableName(drop, table_drop_.table);
  drop.add_flag("--force", table_drop_.force, "also if rows of it wait in the WAL");
  drop.add_flag("--dead-letters", table_drop_.dead_letters,
                "forget its dead letters, too; else a new table of its name has them");
}

void CommandLine::AddPositions() {
  CLI::App& positions = AddGroup("positions", "how far a table is in the WAL");
  CLI::App& show = Add(positions, "show", "positions of shards and sources",
                       [this](const CommandContext& context) {
                         return RunPositionsShow(context, subject_, format_);
                       });
  AddTableName(show, subject_);
  AddFormat(show);

  CLI::App& reset =
      Add(positions, "reset", "go on with a table that somebody rolled back",
          [this](const CommandContext& context) {
            return RunPositionsReset(context, positions_reset_);
          });
  AddTableName(reset, positions_reset_.table);
  CLI::Option* to_table =
      reset.add_flag("--to-table", positions_reset_.to_table,
                     "go back to what the table holds: the lost rows are taken again");
  CLI::Option* keep = reset.add_flag("--keep", positions_reset_.keep,
                                     "go on as if nothing was lost: the rows stay out");
  keep->excludes(to_table);
  reset
      .add_flag("--all-wals", positions_reset_.all_wals,
                "also move the positions of WALs other than this one")
      ->needs(to_table);
  reset.add_flag("--dry-run", positions_reset_.dry_run, "only say what would be done");
}

void CommandLine::AddWal() {
  CLI::App& wal = AddGroup("wal", "mend the write-ahead log");
  CLI::App& quarantine = Add(wal, "quarantine", "leave out segments that cannot be read",
                             [this](const CommandContext& context) {
                               return RunWalQuarantine(context, wal_quarantine_);
                             });
  AddTableName(quarantine, wal_quarantine_.table);
  quarantine.add_option("SEGMENT", wal_quarantine_.segments, "shard/sequence")
      ->required();
  quarantine.add_flag("--yes", wal_quarantine_.yes,
                      "do it; else only say what would be left out");

  CLI::App& release =
      Add(wal, "release", "bring back a segment before a shift goes on without it",
          [this](const CommandContext& context) {
            return RunWalRelease(context, wal_release_);
          });
  AddTableName(release, wal_release_.table);
  release.add_option("SEGMENT", wal_release_.segment, "shard/sequence")->required();
}

void CommandLine::AddDeadLetters() {
  CLI::App& letters = AddGroup("dead-letters", "records that did not fit their table");
  CLI::App& show = Add(letters, "show", "the records, and why they do not fit",
                       [this](const CommandContext& context) {
                         letters_show_.format = format_;
                         return RunDeadLettersShow(context, letters_show_);
                       });
  AddTableName(show, letters_show_.table);
  show.add_option("--limit", letters_show_.limit, "the most records shown (100)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const auto count = ParseCount(text);
            return count.ok() ? std::string() : ErrorText(count.status());
          },
          ""));
  AddFormat(show);
  CLI::App& replay = Add(letters, "replay", "load those that fit the table's schema now",
                         [this](const CommandContext& context) {
                           return RunDeadLettersReplay(context, subject_);
                         });
  AddTableName(replay, subject_);
}

void CommandLine::AddCheck() {
  CLI::App& check =
      Add(app_, "check", "look whether all that the configuration names can be used",
          [this](const CommandContext& context) { return RunCheck(context, format_); });
  AddFormat(check);
}

void CommandLine::AddWhyStuck() {
  CLI::App& why = Add(app_, "why-stuck", "say what a table waits for",
                      [this](const CommandContext& context) {
                        return RunWhyStuck(context, subject_, format_);
                      });
  AddTableName(why, subject_);
  AddFormat(why);
}

}  // namespace firn::cli
