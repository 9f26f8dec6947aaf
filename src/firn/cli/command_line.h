#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/cli/commands.h"
#include "firn/cli/config.h"
#include "firn/cli/log.h"

namespace firn::cli {

/// Options that every command takes.
struct GlobalArguments {
  ConfigSource config;
  LogOptions log;
};

using Command = std::function<Status(const CommandContext&)>;

/// The program: what is on its command line, and what runs then. For one call of Main.
class CommandLine {
 public:
  /// Commands end early if `stop` fires.
  explicit CommandLine(StopToken stop);

  /// Returns the exit code; what failed was told on stderr.
  int Main(int argc, char** argv);

 private:
  // command_line.cc: parsing, and what comes of it.

  Status Parse(int argc, char** argv);
  /// The innermost command that was understood.
  const CLI::App& ParsedCommand() const;
  /// The names that lead from the program to `command`.
  static std::vector<std::string> PathOf(const CLI::App& command);
  void PrintCompletion(const std::vector<std::string>& words);
  /// Empty if there is no catalog, or it cannot be read: completion does not complain.
  static std::vector<std::string> TableNames(
      const std::map<std::string, std::string>& options);
  /// Run, and whatever a library throws (out of memory, a closed stdout) as a failure.
  Status RunCaught();
  Status Run();
  static Status Print(std::string_view text);
  void AddCompletion();
  void AddHelp();
  void AddManPage();

  // command_options.cc: what each command takes.

  void AddGlobalOptions();
  /// A command that runs `run` when it is the one on the command line.
  CLI::App& Add(CLI::App& parent, const std::string& name, const std::string& help,
                Command run);
  /// A command that needs no configuration.
  CLI::App& AddPlain(const std::string& name, const std::string& help,
                     std::function<Status()> run);
  CLI::App& AddGroup(const std::string& name, const std::string& help);
  void AddFormat(CLI::App& command);
  static void AddTableName(CLI::App& command, std::string& table);
  void AddLayout(CLI::App& command, std::string& partition_by, std::string& sort_by);
  void AddLoad();
  /// How the files are read.
  void AddLoadFormat(CLI::App& load);
  void AddShift();
  void AddServe();
  void AddPlan();
  void AddInspect();
  void AddTable();
  void AddPositions();
  void AddWal();
  void AddDeadLetters();
  void AddCheck();
  void AddWhyStuck();

  CLI::App app_{"land streams in Apache Iceberg tables, already compacted", "firn"};
  const StopToken stop_;
  GlobalArguments global_;
  LoadArguments load_;
  ShiftArguments shift_;
  PlanArguments plan_;
  TableCreateArguments table_create_;
  TableDropArguments table_drop_;
  WalQuarantineArguments wal_quarantine_;
  WalReleaseArguments wal_release_;
  PositionsResetArguments positions_reset_;
  DeadLettersShowArguments letters_show_;
  std::vector<std::string> help_path_;
  std::string subject_;
  OutputFormat format_ = OutputFormat::kText;
  /// Of the two one is set once the command line was parsed.
  Command chosen_;
  std::function<Status()> plain_;
};

}  // namespace firn::cli
