#include "firn/cli/help_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace firn::cli {
namespace {

constexpr std::size_t kWidth = 90;
/// Where explanations start; a longer heading gets a line of its own.
constexpr std::size_t kExplanationColumn = 30;

/// Appends the words of `text`, lines broken before kWidth and indented; the first line
/// goes on at column `at`.
void AppendWrapped(std::string_view text, std::size_t indent, std::size_t at,
                   std::string& out) {
  std::size_t column = at;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) out += ' ';
    column += word.size() + (column > indent ? 1 : 0);
    out += word;
  }
  out += '\n';
}

void AppendParagraphs(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    out += '\n';
    AppendWrapped(text.substr(0, end), 0, 0, out);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
}

void AppendEntry(std::string_view heading, std::string_view help, std::string& out) {
  out += fmt::format("  {}", heading);
  if (help.empty()) {
    out += '\n';
    return;
  }
  std::size_t column = 2 + heading.size();
  if (column + 2 > kExplanationColumn) {
    out += '\n';
    column = 0;
  }
  out += std::string(kExplanationColumn - column, ' ');
  AppendWrapped(help, kExplanationColumn, kExplanationColumn, out);
}

void AppendOptions(std::string_view title, const std::vector<OptionText>& options,
                   std::string& out) {
  if (options.empty()) return;
  out += fmt::format("\n{}:\n", title);
  for (const OptionText& option : options) {
    AppendEntry(OptionHeading(option), option.help, out);
  }
}

void AppendTopic(const TopicText& topic, std::string& out) {
  out += fmt::format("\n{}:\n", topic.title);
  for (const auto& [term, explanation] : topic.entries) {
    AppendEntry(term, explanation, out);
  }
}

void AppendExamples(const std::vector<ExampleText>& examples, std::string& out) {
  if (examples.empty()) return;
  out += examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const ExampleText& example : examples) {
    out += fmt::format("  {}\n      ", example.command);
    AppendWrapped(example.effect, 6, 6, out);
  }
}

}  // namespace

std::string HelpText(const CommandTree& root, const std::vector<std::string>& path) {
  const CommandTree* command = &root;
  std::string name = root.name;
  for (const std::string& step : path) {
    command = FindCommand(*command, step);
    if (command == nullptr) return "";
    name += " " + step;
  }
  std::string out = fmt::format("{}: {}\n\nUsage: {}\n", name, command->summary,
                                UsageOf(path, *command));
  AppendParagraphs(command->details, out);
  AppendOptions("Arguments", command->arguments, out);
  if (!command->commands.empty()) out += "\nCommands:\n";
  for (const CommandTree& child : command->commands) {
    AppendEntry(child.name, child.summary, out);
  }
  AppendOptions("Options", command->options, out);
  if (command != &root) {
    std::vector<OptionText> inherited = root.options;
    std::erase_if(inherited, [&](const OptionText& option) {
      return FindOption(*command, option.names.front()) != nullptr ||
             option.value.empty();
    });
    AppendOptions("Options of every command", inherited, out);
  }
  for (const TopicText& topic : command->topics) AppendTopic(topic, out);
  AppendExamples(command->examples, out);
  return out;
}

}  // namespace firn::cli
