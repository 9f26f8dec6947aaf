#include "firn/order/sort_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::order {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using types::Type;
using types::TypeKind;

types::Schema LogSchema() {
  return {.fields = {{.id = 1, .name = "service", .type = Type(TypeKind::kString)},
                     {.id = 2, .name = "ts", .type = Type(TypeKind::kTimestamptz)},
                     {.id = 3, .name = "desc", .type = Type(TypeKind::kLong)}}};
}

/// "source transform direction nulls" of each field.
std::vector<std::string> Fields(std::string_view text) {
  std::vector<std::string> fields;
  for (const SortField& field : ParseSortOrder(text, LogSchema()).ValueOrDie().fields) {
    fields.push_back(
        fmt::format("{} {} {} {}", field.source_id, ToString(field.transform),
                    field.direction == Direction::kAscending ? "asc" : "desc",
                    field.null_order == NullOrder::kNullsFirst ? "first" : "last"));
  }
  return fields;
}

std::string Refusal(std::string_view text) {
  return ErrorText(ParseSortOrder(text, LogSchema()).status());
}

TEST(SortOrderTest, NullsFollowTheDirectionByDefault) {
  EXPECT_THAT(Fields("service, ts desc"),
              ElementsAre("1 identity asc first", "2 identity desc last"));
}

TEST(SortOrderTest, DirectionAndNullsAreTaken) {
  EXPECT_THAT(Fields("service ASC nulls last,ts Desc NULLS FIRST"),
              ElementsAre("1 identity asc last", "2 identity desc first"));
  EXPECT_THAT(Fields("ts nulls last"), ElementsAre("2 identity asc last"));
}

TEST(SortOrderTest, TransformsAreTaken) {
  EXPECT_THAT(
      Fields("day( ts ) desc, bucket(16, service),truncate(2, service) nulls last"),
      ElementsAre("2 day desc last", "1 bucket[16] asc first", "1 truncate[2] asc last"));
}

TEST(SortOrderTest, ColumnMayBeNamedAsAKeyword) {
  EXPECT_THAT(Fields("desc desc"), ElementsAre("3 identity desc last"));
}

TEST(SortOrderTest, EmptyTextIsUnsorted) {
  EXPECT_EQ(ParseSortOrder(" ", LogSchema()).ValueOrDie().id, SortOrderId(0));
  EXPECT_EQ(ParseSortOrder("ts", LogSchema()).ValueOrDie().id, SortOrderId(1));
}

TEST(SortOrderTest, RefusalsNameTheTerm) {
  EXPECT_THAT(Refusal("service, tss desc"), HasSubstr("'tss'"));
  EXPECT_THAT(Refusal("ts down"), HasSubstr("'ts down'"));
  EXPECT_THAT(Refusal("ts nulls"), HasSubstr("'ts nulls'"));
  EXPECT_THAT(Refusal("ts desc asc"), HasSubstr("'ts desc asc'"));
  EXPECT_THAT(Refusal("ts nulls first desc"), HasSubstr("[asc|desc]"));
  EXPECT_THAT(Refusal("day(service)"), HasSubstr("does not apply"));
}

}  // namespace
}  // namespace firn::order
