#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "firn/cli/command_tree.h"
#include "firn/cli/completion.h"
#include "firn/cli/help_text.h"
#include "firn/cli/man_page.h"
#include "firn/cli/usage_error.h"
#include "firn/core/nearest.h"

namespace firn::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const CommandTree& Program() {
  static const CommandTree program = {
      .name = "firn",
      .summary = "land streams",
      .options = {{.names = {"--help", "-h"}, .help = "explain"},
                  {.names = {"--config"}, .value = "FILE", .help = "where it stands"},
                  {.names = {"--warehouse"}, .value = "DIR"}},
      .commands = {
          {.name = "load",
           .summary = "land files",
           .details = "It's .gz, too: C:\\x.\n\n.Second.",
           .examples = {{"firn load a.b x.csv", "land a file"}},
           .arguments = {{.names = {"TABLE"}, .value = "TABLE", .required = true},
                         {.names = {"FILE"}, .value = "FILE", .repeated = true}},
           .options = {{.names = {"--create"}, .help = "make it"},
                       {.names = {"--format"},
                        .value = "csv|ndjson",
                        .choices = {"csv", "ndjson"}}}},
          {.name = "list", .summary = "all tables"},
          {.name = "table", .commands = {{.name = "create"}, {.name = "drop"}}}}};
  return program;
}

/// What could stand at the end of a line: "load table files".
std::string Completed(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (line.empty() || line.ends_with(' ')) words.emplace_back();
  const Completion completion = Complete(Program(), words);
  std::string text;
  for (const Candidate& candidate : completion.candidates) text += candidate.word + " ";
  if (completion.tables) text += "TABLES ";
  if (completion.files) text += "FILES ";
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(CompletionTest, OffersWhatCanStandAtTheCursor) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "load list table"},
      {"l", "load list"},
      {"table ", "create drop"},
      {"table d", "drop"},
      {"-", "--help --config --warehouse"},
      {"load ", "TABLES"},
      {"load a.b ", "FILES"},
      {"load a.b x.csv ", "FILES"},
      {"load --c", "--config --create"},
      {"load --create ", "TABLES"},
      {"load --format ", "csv ndjson"},
      {"load --format n", "ndjson"},
      {"load --format=n", "--format=ndjson"},
      {"load --format = n", "ndjson"},
      {"load --format =", "csv ndjson"},
      {"load --format csv a.b ", "FILES"},
      {"--config f load ", "TABLES"},
      {"--config ", "FILES"},
      {"load -- --c", "TABLES"},
      {"list ", ""},
      {"nothing ", "load list table"},
      {"load --unknown ", "TABLES"},
  };
  for (const auto& [line, expected] : cases) EXPECT_EQ(Completed(line), expected) << line;
}

TEST(CompletionTest, TellsWhereTheTablesAre) {
  const Completion completion =
      Complete(Program(), {"--warehouse", "/w", "--config=/c", "load", ""});
  EXPECT_THAT(completion.values,
              ElementsAre(std::pair("--config", "/c"), std::pair("--warehouse", "/w")));
}

std::string Explained(std::vector<std::string> path, std::vector<std::string> unknown,
                      const std::string& problem = "its own words") {
  return ExplainUsageError(
      Program(),
      {.path = std::move(path), .unknown = std::move(unknown), .problem = problem});
}

TEST(UsageErrorTest, NamesWhatIsWrongAndTheNearestKnown) {
  EXPECT_EQ(Explained({}, {"lod", "a.b"}),
            "unknown command \"lod\"; did you mean load?; see 'firn --help'");
  EXPECT_EQ(Explained({"table"}, {"crate"}),
            "unknown command \"crate\"; did you mean create?; see 'firn table --help'");
  EXPECT_EQ(Explained({}, {"drop"}),
            "unknown command \"drop\"; did you mean table drop?; see 'firn --help'");
  EXPECT_EQ(Explained({"table"}, {"list"}),
            "unknown command \"list\"; there are create, drop; see 'firn table --help'");
  EXPECT_EQ(Explained({"load"}, {}, "--format: At Most 1 required but received 2"),
            "--format: given 2 times, and can be given once; see 'firn load --help'");
  EXPECT_EQ(Explained({"load"}, {"--crate=x"}),
            "unknown option \"--crate\"; did you mean --create?; see 'firn load --help'");
  EXPECT_EQ(Explained({"load"}, {"--warehose"}),
            "unknown option \"--warehose\"; did you mean --warehouse?; see 'firn load "
            "--help'");
  EXPECT_EQ(Explained({"list"}, {"a.b"}),
            "unexpected argument \"a.b\"; see 'firn list --help'");
  EXPECT_EQ(Explained({"table"}, {}, "A subcommand is required"),
            "name a command: create, drop; see 'firn table --help'");
  EXPECT_EQ(Explained({"load"}, {}, "TABLE is\nrequired"),
            "TABLE is required; see 'firn load --help'");
}

TEST(NearestNameTest, CountsTypingErrors) {
  EXPECT_EQ(NearestName({"flush_age", "flush_bytes"}, "flush_byte"), "flush_bytes");
  EXPECT_EQ(NearestName({"a", "b"}, "c"), "a");
}

TEST(NearestNameTest, FarOnesAreNotClose) {
  EXPECT_EQ(CloseName({"load", "shift"}, "laod"), "load");
  EXPECT_EQ(CloseName({"load", "shift"}, "quarantine"), std::nullopt);
  EXPECT_EQ(CloseName({}, "load"), std::nullopt);
}

TEST(HelpTextTest, ShowsArgumentsOptionsAndExamples) {
  EXPECT_EQ(HelpText(Program(), {"load"}),
            R"(firn load: land files

Usage: firn load [OPTIONS] TABLE [FILE...]

It's .gz, too: C:\x.

.Second.

Arguments:
  TABLE
  FILE

Options:
  --create                    make it
  --format csv|ndjson

Options of every command:
  --config FILE               where it stands
  --warehouse DIR

Example:
  firn load a.b x.csv
      land a file
)");
}

TEST(HelpTextTest, ListsTheCommandsOfAGroup) {
  EXPECT_THAT(HelpText(Program(), {}), HasSubstr("\nCommands:\n  load          "));
  EXPECT_THAT(HelpText(Program(), {"no", "such"}), IsEmpty());
}

TEST(HelpTextTest, BreaksLinesBeforeTheirLimit) {
  CommandTree program{.name = "firn", .summary = "x"};
  for (int i = 0; i < 60; ++i) program.details += "word ";
  program.details += std::string(120, 'x');
  std::istringstream in(HelpText(program, {}));
  for (std::string line; std::getline(in, line);) {
    EXPECT_TRUE(line.size() <= 90 || line == std::string(120, 'x')) << line;
    EXPECT_THAT(line, Not(::testing::EndsWith(" ")));
  }
}

TEST(ManPageTest, EscapesWhatRoffWouldRead) {
  const std::string page = ManPage(Program(), "1.0");
  EXPECT_THAT(page, HasSubstr("\n.PP\nIt\\(aqs .gz, too: C:\\ex.\n.PP\n\\&.Second.\n"));
  EXPECT_THAT(page, HasSubstr("\n.TP\n.B \"\\-\\-format csv|ndjson\"\n"));
  EXPECT_THAT(page, HasSubstr("\n.SS \"firn table create [OPTIONS]\"\n"));
}

}  // namespace
}  // namespace firn::cli
