#include "firn/cli/command_tree.h"

#include <algorithm>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "firn/cli/command_help.h"

namespace firn::cli {
namespace {

/// "text", "json" of CLI11's "TEXT:{text,json}".
std::vector<std::string> ChoicesOf(const std::string& type_name) {
  const std::size_t open = type_name.find('{');
  const std::size_t close = type_name.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type_name.substr(open + 1, close - open - 1), ',');
}

OptionText Describe(const CLI::Option& option) {
  OptionText text{.help = option.get_description(),
                  .required = option.get_required(),
                  .repeated = option.get_expected_max() > 1};
  text.choices = ChoicesOf(option.get_type_name());
  if (option.get_positional()) {
    text.names = {option.get_name(true, false)};
    text.value = text.names.front();
    return text;
  }
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  if (option.get_items_expected_max() == 0) return text;
  text.value = text.choices.empty() ? option.get_type_name()
                                    : fmt::format("{}", fmt::join(text.choices, "|"));
  return text;
}

CommandTree Describe(const CLI::App& app, const std::string& path) {
  const CommandHelp& help = HelpOf(path);
  CommandTree command{.name = app.get_name(),
                      .summary = app.get_description(),
                      .details = help.details,
                      .examples = help.examples,
                      .topics = help.topics};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    auto& target = option->get_positional() ? command.arguments : command.options;
    target.push_back(Describe(*option));
  }
  for (const CLI::App* child : app.get_subcommands({})) {
    if (child->get_group().empty()) continue;
    command.commands.push_back(Describe(
        *child, path.empty() ? child->get_name() : path + " " + child->get_name()));
  }
  return command;
}

}  // namespace

CommandTree DescribeCommands(const CLI::App& app) { return Describe(app, ""); }

const CommandTree* FindCommand(const CommandTree& parent, std::string_view name) {
  const auto found = std::ranges::find(parent.commands, name, &CommandTree::name);
  return found == parent.commands.end() ? nullptr : &*found;
}

const OptionText* FindOption(const CommandTree& command, std::string_view name) {
  const auto found = std::ranges::find_if(command.options, [&](const OptionText& option) {
    return std::ranges::find(option.names, name) != option.names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

std::string UsageOf(const std::vector<std::string>& path, const CommandTree& command) {
  std::string usage = "firn";
  for (const std::string& name : path) usage += " " + name;
  usage += " [OPTIONS]";
  for (const OptionText& argument : command.arguments) {
    const std::string name = argument.value + (argument.repeated ? "..." : "");
    usage += argument.required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) usage += " COMMAND";
  return usage;
}

std::string OptionHeading(const OptionText& option) {
  std::string heading = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.names.front().starts_with('-')) return heading;
  if (!option.value.empty()) heading += " " + option.value;
  if (option.repeated) heading += " ...";
  return heading;
}

}  // namespace firn::cli
