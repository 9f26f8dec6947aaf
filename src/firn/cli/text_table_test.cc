#include "firn/cli/text_table.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(TextTableTest, AlignsByCodePoints) {
  TextTable table({{"name"}, {"rows", Align::kRight}, {"note"}});
  table.AddRow({"größe", "7", ""});
  table.AddRow({"b", "1,000", "x"});
  EXPECT_EQ(table.ToString(),
            "name    rows  note\n"
            "größe      7\n"
            "b      1,000  x\n");
}

TEST(TextTableTest, CutsLongCellsAndHidesControlCharacters) {
  TextTable table({{"key", Align::kLeft, 5}, {"file", Align::kLeft, kNoLimit}});
  table.AddRow({"größen", std::string(70, 'x')});
  table.AddRow({"\x1b[31m", "b\nc"});
  EXPECT_EQ(table.ToString(),
            "key    file\n"
            "größ…  " +
                std::string(70, 'x') + "\n" + "\\x1b…  b\\nc\n");
}

TEST(TextTableTest, WithoutRowsThereIsTheHeader) {
  EXPECT_EQ(TextTable({{"a"}, {"b"}}).ToString(), "a  b\n");
}

}  // namespace
}  // namespace firn::cli
