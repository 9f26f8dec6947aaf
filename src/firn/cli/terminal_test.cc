#include "firn/cli/terminal.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(PrintableTest, KeepsTextAndEscapesWhatATerminalWouldObey) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {"plain größe 東京 🙂", "plain größe 東京 🙂"},
      {"a\nb\tc\r", "a\\nb\\tc\\r"},
      {"\x1b[2J", "\\x1b[2J"},
      {std::string_view("\0", 1), "\\x00"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b", "\\x9b"},                // one-character CSI
      {"\xe2\x80\xae", "\\u202e"},          // right to left
      {"\xff", "\\xff"},                    // not UTF-8
      {"\xe6\x9d", "\\xe6\\x9d"},           // cut
      {"\xc0\xaf", "\\xc0\\xaf"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // surrogate
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Printable(text), expected);
}

TEST(StyledTest, PlainWhereNoTerminalIs) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(IsTerminal(file));
  EXPECT_EQ(Styled(file, Style::kBad, "text"), "text");
  EXPECT_EQ(TerminalWidth(file, 77), 77);
  std::fclose(file);
}

}  // namespace
}  // namespace firn::cli
