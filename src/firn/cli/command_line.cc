#include "firn/cli/command_line.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "firn/cli/command_tree.h"
#include "firn/cli/completion.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/help_text.h"
#include "firn/cli/man_page.h"
#include "firn/cli/table_names.h"
#include "firn/cli/terminal.h"
#include "firn/cli/usage_error.h"

namespace firn::cli {
namespace {

/// Asked by the completion scripts; not for people, so in no help.
constexpr std::string_view kCompleteCommand = "__complete";
constexpr mode_t kForOwnerOnly = 0077;

}  // namespace

CommandLine::CommandLine(StopToken stop) : stop_(std::move(stop)) {
  app_.require_subcommand(1);
  app_.set_help_flag("--help,-h", "explain a command, and exit");
  app_.set_version_flag("--version", "firn " FIRN_VERSION, "print the version, and exit");
  app_.formatter_fn([this](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    return HelpText(DescribeCommands(app_), PathOf(*app));
  });
  AddGlobalOptions();
  AddLoad();
  AddShift();
  AddServe();
  AddPlan();
  AddInspect();
  AddTable();
  AddPositions();
  AddWal();
  AddDeadLetters();
  AddCheck();
  AddWhyStuck();
  AddCompletion();
  AddManPage();
  AddHelp();
  AddPlain("version", "print the version",
           [] { return Print("firn " FIRN_VERSION "\n"); });
}

int CommandLine::Main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == kCompleteCommand) {
    PrintCompletion({argv + 2, argv + argc});
    return kExitDone;
  }
  Status status = Parse(argc, argv);
  if (status.ok()) status = RunCaught();
  if (status.ok() && std::fflush(stdout) != 0) {
    status = InvalidError("the result cannot be written: {}", std::strerror(errno));
  }
  if (status.ok()) return kExitDone;
  TellFailure(ErrorText(status));
  return ExitCodeOf(status);
}

Status CommandLine::Parse(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {
      // --help or --version: printed, and nothing is left to run.
      app_.exit(e);
      plain_ = [] { return Status::OK(); };
      return Status::OK();
    }
    return AsUsageError(InvalidError(
        "{}", ExplainUsageError(DescribeCommands(app_), {.path = PathOf(ParsedCommand()),
                                                         .unknown = app_.remaining(true),
                                                         .problem = e.what()})));
  }
  return Status::OK();
}

const CLI::App& CommandLine::ParsedCommand() const {
  const CLI::App* command = &app_;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
  }
  return *command;
}

std::vector<std::string> CommandLine::PathOf(const CLI::App& command) {
  std::vector<std::string> path;
  for (const CLI::App* app = &command; app->get_parent() != nullptr;
       app = app->get_parent()) {
    path.insert(path.begin(), app->get_name());
  }
  return path;
}

void CommandLine::PrintCompletion(const std::vector<std::string>& words) {
  const Completion completion = Complete(DescribeCommands(app_), words);
  for (const Candidate& candidate : completion.candidates) {
    fmt::print("{}\t{}\n", candidate.word, candidate.help);
  }
  if (completion.tables) {
    for (const std::string& name : TableNames(completion.values)) {
      if (name.starts_with(words.back())) fmt::print("{}\ttable\n", name);
    }
  }
  if (completion.files) fmt::print(":files\n");
}

std::vector<std::string> CommandLine::TableNames(
    const std::map<std::string, std::string>& options) {
  const auto value = [&](const char* name) {
    const auto found = options.find(name);
    return found == options.end() ? std::optional<std::string>() : found->second;
  };
  const auto config =
      LoadConfig({.file = value("--config"), .warehouse = value("--warehouse")});
  if (!config.ok()) return {};
  return ListTableNames(*config, SystemRuntime()).ValueOr({});
}

Status CommandLine::RunCaught() {
  try {
    return Run();
  } catch (const std::exception& e) {
    return InvalidError("{}", e.what());
  }
}

Status CommandLine::Run() {
  if (plain_) return plain_();
  ConfigureLog(global_.log);
  const auto config = LoadConfig(global_.config);
  if (!config.ok()) return AsUsageError(config.status());
  if (config->local_files == LocalFiles::kOwner) (void)umask(kForOwnerOnly);
  return chosen_({*config, SystemRuntime(), stop_});
}

void CommandLine::AddCompletion() {
  CLI::App& completion = AddPlain("completion", "print a completion script for a shell",
                                  [this] { return Print(CompletionScript(subject_)); });
  completion.add_option("SHELL", subject_, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

Status CommandLine::Print(std::string_view text) {
  fmt::print("{}", text);
  return Status::OK();
}

void CommandLine::AddHelp() {
  CLI::App& help = AddPlain("help", "explain a command: the same as --help", [this] {
    const CommandTree program = DescribeCommands(app_);
    const std::string text = HelpText(program, help_path_);
    if (!text.empty()) return Print(text);
    const auto unknown = help_path_.back();
    help_path_.pop_back();
    return AsUsageError(InvalidError(
        "{}", ExplainUsageError(
                  program, {.path = help_path_, .unknown = {unknown}, .problem = ""})));
  });
  // The names of commands are arguments here.
  help.fallthrough(false);
  help.add_option("COMMAND", help_path_, "its name, such as 'table create'");
}

void CommandLine::AddManPage() {
  AddPlain("man", "print the man page in roff",
           [this] { return Print(ManPage(DescribeCommands(app_), FIRN_VERSION)); });
}

}  // namespace firn::cli
