#include "firn/cli/usage_error.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "firn/core/nearest.h"

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

/// Adds "table list" for each command of this name in a group.
void AddNamesakes(const CommandTree& group, const std::string& name,
                  std::vector<std::string>& found) {
  for (const CommandTree& child : group.commands) {
    if (FindCommand(child, name) == nullptr) continue;
    found.push_back(fmt::format("{} {}", child.name, name));
  }
}

std::string ExplainUnknownCommand(const std::string& word, const CommandTree& command) {
  std::vector<std::string> meant;
  AddNamesakes(command, word, meant);
  if (const auto close = CloseName(CommandNames(command), word)) {
    if (meant.empty()) meant.push_back(*close);
  }
  if (meant.empty()) {
    return fmt::format("unknown command \"{}\"; there are {}", word,
                       fmt::join(CommandNames(command), ", "));
  }
  return fmt::format("unknown command \"{}\"; did you mean {}?", word,
                     fmt::join(meant, " or "));
}

/// The parser's own words, where a user would not understand them.
std::string InPlainWords(const std::string& problem) {
  constexpr std::string_view kTwice = ": At Most 1 required but received ";
  const std::size_t twice = problem.find(kTwice);
  if (twice == std::string::npos) return problem;
  return fmt::format("{}: given {} times, and can be given once",
                     problem.substr(0, twice), problem.substr(twice + kTwice.size()));
}

std::string ExplainUnknown(const std::string& word, const CommandTree& command,
                           const std::vector<std::string>& options) {
  if (word.starts_with('-') && word != "-") {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option \"{}\"; did you mean {}?", name,
                       NearestName(options, name));
  }
  if (command.commands.empty()) return fmt::format("unexpected argument \"{}\"", word);
  return ExplainUnknownCommand(word, command);
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
  std::string problem = InPlainWords(line.problem);
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
