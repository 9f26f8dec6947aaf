#include "firn/cli/progress.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(ProgressTest, SharesAndTimeLeft) {
  using std::chrono::seconds;
  EXPECT_EQ(FormatShare(1, 4, seconds(10)), " 25 %, 30.0 s left");
  EXPECT_EQ(FormatShare(1, 4, std::chrono::milliseconds(900)), " 25 %");
  EXPECT_EQ(FormatShare(0, 4, seconds(10)), "  0 %");
  EXPECT_EQ(FormatShare(4, 4, seconds(10)), "100 %");
  EXPECT_EQ(FormatShare(1, 100, seconds(60)), "  1 %, 1 h 39 min left");
}

}  // namespace
}  // namespace firn::cli
