#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

using types::Type;
using types::TypeKind;

struct ForgedBound {
  std::string name;
  Type type;
  /// Of two rows, as JSON.
  std::string least;
  std::string greatest;
};

class ForgedBoundsTest : public testing::TestWithParam<ForgedBound> {
 protected:
  /// Of a shift, after one bit of a bound was flipped.
  static Status ShiftAfter(const std::function<void(parquet_io::ColumnMetrics&)>& flip) {
    TestWarehouse warehouse({
        .sort_by = "id",
        .columns = {{.id = 1, .name = "id", .type = Type(TypeKind::kLong)},
                    {.id = 2, .name = "c", .type = GetParam().type}},
    });
    const wal::SegmentName segment =
        warehouse.WriteJson(fmt::format(R"([{{"id": 1, "c": {}}}, {{"id": 2, "c": {}}}])",
                                        GetParam().least, GetParam().greatest));
    warehouse.Forge(segment, [&](wal::SegmentFooter& footer) {
      flip(footer.row_groups[0][0].metrics.at(2));
    });
    return warehouse.TryShift().status();
  }
};

TEST_P(ForgedBoundsTest, OnlyTrueBoundsAreTaken) {
  EXPECT_TRUE(ShiftAfter([](auto&) {}).ok());
  const Status lower =
      ShiftAfter([](auto& metrics) { metrics.lower_bound->back() ^= 1; });
  const Status upper =
      ShiftAfter([](auto& metrics) { metrics.upper_bound->back() ^= 1; });
  for (const Status& status : {lower, upper}) {
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
    EXPECT_THAT(status.message(), testing::HasSubstr("column c: the footer's key-values "
                                                     "say other bounds"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shift, ForgedBoundsTest,
    testing::Values(
        ForgedBound{"Boolean", Type(TypeKind::kBoolean), "false", "true"},
        ForgedBound{"Int", Type(TypeKind::kInt), "-1", "2"},
        ForgedBound{"Float", Type(TypeKind::kFloat), "-1.5", "2.5"},
        ForgedBound{"Double", Type(TypeKind::kDouble), "-1.5", "2.5"},
        ForgedBound{"DecimalAsInt", Type::Decimal(9, 2), R"("-1.50")", R"("2.25")"},
        ForgedBound{"DecimalAsLong", Type::Decimal(18, 2), R"("-1.50")", R"("2.25")"},
        ForgedBound{"DecimalAsBytes", Type::Decimal(38, 2), R"("-1.50")", R"("2.25")"},
        ForgedBound{"String", Type(TypeKind::kString), R"("a text cut at sixteen")",
                    R"("b")"},
        ForgedBound{"Binary", Type(TypeKind::kBinary), R"("bytes cut at sixteen")",
                    R"("c")"},
        ForgedBound{"Fixed", Type::Fixed(4), R"("abcd")", R"("abce")"},
        ForgedBound{"Uuid", Type(TypeKind::kUuid), R"("0123456789abcdef")",
                    R"("123456789abcdef0")"},
        ForgedBound{"Timestamp", Type(TypeKind::kTimestamp), "1", "2"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace firn::shift
