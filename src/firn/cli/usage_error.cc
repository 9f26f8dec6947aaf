#include "firn/cli/usage_error.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "firn/cli/nearest.h"

namespace firn::cli {
namespace {

std::vector<std::string> CommandNames(const CommandTree& command) {
  std::vector<std::string> names;
  for (const CommandTree& child : command.commands) names.push_back(child.name);
  return names;
}

void AddOptionNames(const CommandTree& command, std::vector<std::string>& names) {
  for (const OptionText& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
}

std::string ExplainUnknown(const std::string& word, const CommandTree& command,
                           const std::vector<std::string>& options) {
  if (word.starts_with('-') && word != "-") {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option \"{}\"; did you mean {}?", name,
                       NearestName(options, name));
  }
  if (command.commands.empty()) return fmt::format("unexpected argument \"{}\"", word);
  return fmt::format("unknown command \"{}\"; did you mean {}?", word,
                     NearestName(CommandNames(command), word));
}

}  // namespace

std::string ExplainUsageError(const CommandTree& root, const BadCommandLine& line) {
  const CommandTree* command = &root;
  std::string name = root.name;
  std::vector<std::string> options;
  AddOptionNames(root, options);
  for (const std::string& step : line.path) {
    const CommandTree* next = FindCommand(*command, step);
    if (next == nullptr) break;
    command = next;
    name += " " + step;
    AddOptionNames(*command, options);
  }
  std::string problem = line.problem;
  if (!line.unknown.empty()) {
    problem = ExplainUnknown(line.unknown.front(), *command, options);
  } else if (!command->commands.empty() &&
             line.problem.find("subcommand") != std::string_view::npos) {
    problem = fmt::format("name a command: {}", fmt::join(CommandNames(*command), ", "));
  }
  std::ranges::replace(problem, '\n', ' ');
  return fmt::format("{}; see '{} --help'", problem, name);
}

}  // namespace firn::cli
