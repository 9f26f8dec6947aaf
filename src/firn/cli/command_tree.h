#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace firn::cli {

/// An option, or an argument that is known by its place, as the help shows it.
struct OptionText {
  /// "--format", "-h"; of an argument alone "TABLE".
  std::vector<std::string> names;
  /// What stands for the value: "FILE", "text|json". Empty for a flag. Completion goes by
  /// it: TABLE is a table of the catalog, FILE and DIR are paths.
  std::string value;
  /// All values, if they can be listed.
  std::vector<std::string> choices;
  std::string help;
  bool required = false;
  bool repeated = false;
};

/// A command line to copy, and what it does.
struct ExampleText {
  std::string command;
  std::string effect;
};

/// Paragraphs under a heading of their own.
struct TopicText {
  std::string title;
  /// Term and explanation.
  std::vector<std::pair<std::string, std::string>> entries;
};

/// All that the program tells about a command: --help, the man page, completion and usage
/// errors are made from this alone.
struct CommandTree {
  std::string name;
  /// One line.
  std::string summary;
  std::string details;
  std::vector<ExampleText> examples;
  std::vector<TopicText> topics;
  std::vector<OptionText> arguments;
  std::vector<OptionText> options;
  std::vector<CommandTree> commands;
};

/// What `app` can parse, with the explanations of HelpOf. Hidden commands and options
/// (those of no group) are left out.
CommandTree DescribeCommands(const CLI::App& app);

/// Null if there is none of this name.
const CommandTree* FindCommand(const CommandTree& parent, std::string_view name);
const OptionText* FindOption(const CommandTree& command, std::string_view name);

/// "firn table create [OPTIONS] TABLE", for the command that `path` (without the
/// program's name) leads to.
std::string UsageOf(const std::vector<std::string>& path, const CommandTree& command);

/// "--format text|json" and "--null-value S...".
std::string OptionHeading(const OptionText& option);

}  // namespace firn::cli
