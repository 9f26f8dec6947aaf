#include "firn/cli/man_page.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

namespace firn::cli {
namespace {

/// Text that roff prints as it is.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

/// An argument of a macro: in quotes.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : Escaped(text)) {
    if (c == '"') {
      out += "\\(dq";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string Upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return out;
}

void AppendParagraphs(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    out += fmt::format(".PP\n{}\n", Escaped(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
}

void AppendTagged(std::string_view tag, std::string_view text, std::string& out) {
  out += fmt::format(".TP\n.B {}\n{}\n", Quoted(tag), Escaped(text));
}

void AppendOptions(const std::vector<OptionText>& options, std::string& out) {
  for (const OptionText& option : options) {
    if (option.names.front() == "--help") continue;
    AppendTagged(OptionHeading(option), option.help, out);
  }
}

void AppendExamples(const std::vector<ExampleText>& examples, std::string& out) {
  for (const ExampleText& example : examples) {
    out += fmt::format(".PP\n{}\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n",
                       Escaped(example.effect), Escaped(example.command));
  }
}

void AppendCommands(const CommandTree& parent, std::vector<std::string> path,
                    std::string& out) {
  for (const CommandTree& command : parent.commands) {
    path.push_back(command.name);
    // A group is told by its commands.
    if (command.commands.empty()) {
      out += fmt::format(".SS {}\n", Quoted(UsageOf(path, command)));
      out += fmt::format("{}.\n", Escaped(command.summary));
      AppendParagraphs(command.details, out);
      AppendOptions(command.arguments, out);
      AppendOptions(command.options, out);
      AppendExamples(command.examples, out);
    }
    AppendCommands(command, path, out);
    path.pop_back();
  }
}

}  // namespace

std::string ManPage(const CommandTree& root, std::string_view version) {
  std::string out = fmt::format(
      ".TH FIRN 1 \"\" \"firn {0}\" \"User Commands\"\n"
      ".SH NAME\nfirn \\- {1}\n"
      ".SH SYNOPSIS\n.B {2}\n"
      ".SH DESCRIPTION\n",
      Escaped(version), Escaped(root.summary), Quoted(UsageOf({}, root)));
  AppendParagraphs(root.details, out);
  out += ".SH OPTIONS\nThey may stand before the command or behind it.\n";
  AppendOptions(root.options, out);
  out += ".SH COMMANDS\n";
  AppendCommands(root, {}, out);
  for (const TopicText& topic : root.topics) {
    out += fmt::format(".SH {}\n", Quoted(Upper(topic.title)));
    for (const auto& [term, explanation] : topic.entries) {
      AppendTagged(term, explanation, out);
    }
  }
  out += ".SH EXAMPLES\n";
  AppendExamples(root.examples, out);
  return out;
}

}  // namespace firn::cli
