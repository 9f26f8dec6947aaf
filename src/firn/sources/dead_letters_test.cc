#include "firn/sources/dead_letters.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/arrow_types.h"

namespace firn::sources {
namespace {

using testing::HasSubstr;

const WallTime kNow = WallTime(std::chrono::seconds(1'700'000'000));

SourceBatch BatchWith(std::vector<DeadLetter> letters) {
  return {.delivery = {.range = wal::SourceRange{"file", 10, 20}},
          .dead_letters = std::move(letters)};
}

TEST(DeadLettersTest, BecomeRowsOverTheSameRange) {
  const types::Schema schema = DeadLetterSchema();
  const auto delivery =
      DeadLetterDelivery(BatchWith({{.raw = "raw\xff",
                                     .source = "a.csv",
                                     .position = 12,
                                     .reason = "line 13: no",
                                     .offset = 12,
                                     .format = std::make_shared<std::string>("{}")},
                                    {.raw = "",
                                     .source = "a.csv",
                                     .position = 2,
                                     .reason = "line 3: no",
                                     .offset = 15}}),
                         schema, kNow)
          .ValueOrDie();
  EXPECT_EQ(*delivery.range, (wal::SourceRange{"file", 10, 20}));
  ASSERT_TRUE(delivery.rows->ValidateFull().ok());
  EXPECT_TRUE(delivery.rows->schema()->Equals(*types::ToArrowSchema(schema), true));
  ASSERT_EQ(delivery.rows->num_rows(), 2);
  EXPECT_EQ(delivery.offsets->Value(1), 15);
  EXPECT_EQ(types::ValueAt(*delivery.rows->column(0), schema.fields[0].type, 0),
            types::Value("raw\xff"));
  EXPECT_EQ(types::ValueAt(*delivery.rows->column(4), schema.fields[4].type, 1),
            types::Value(std::int64_t{1'700'000'000'000'000}));
}

TEST(DeadLettersTest, BatchWithoutAnyAdvancesTheRange) {
  const auto delivery =
      DeadLetterDelivery(BatchWith({}), DeadLetterSchema(), kNow).ValueOrDie();
  EXPECT_EQ(delivery.rows, nullptr);
  EXPECT_EQ(*delivery.range, (wal::SourceRange{"file", 10, 20}));
}

TEST(DeadLettersTest, TableMustHaveTheColumns) {
  types::Schema schema = DeadLetterSchema();
  schema.fields.pop_back();
  EXPECT_THAT(ErrorText(DeadLetterDelivery(BatchWith({}), schema, kNow).status()),
              HasSubstr("column 'format' is not there"));
  schema = DeadLetterSchema();
  schema.fields[4].type = types::Type(types::TypeKind::kString);
  EXPECT_THAT(ErrorText(CheckDeadLetterSchema(schema)),
              HasSubstr("column 'time' is required string, not required timestamptz"));
  schema = DeadLetterSchema();
  schema.fields[2].required = false;
  EXPECT_THAT(ErrorText(CheckDeadLetterSchema(schema)),
              HasSubstr("column 'position' is long, not required long"));
  schema = DeadLetterSchema();
  std::swap(schema.fields[0], schema.fields[1]);
  EXPECT_THAT(ErrorText(CheckDeadLetterSchema(schema)),
              HasSubstr("column 'raw' is not there as column 1"));
  schema = DeadLetterSchema();
  schema.fields.push_back({.id = 9, .name = "more", .type = schema.fields[1].type});
  EXPECT_THAT(ErrorText(CheckDeadLetterSchema(schema)),
              HasSubstr("column 'more' is one too many"));
  EXPECT_EQ(DeadLetterTable("db.t"), "db.t__dead_letters");
}

}  // namespace
}  // namespace firn::sources
