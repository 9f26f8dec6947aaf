#include "firn/order/key_encoder.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/order/key_bound.h"
#include "firn/types/arrow_types.h"

namespace firn::order {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using types::Type;
using types::TypeKind;
using types::Value;

constexpr auto kDesc = Direction::kDescending;
constexpr auto kLast = NullOrder::kNullsLast;

const KeyColumn kLongColumn = {.type = Type(TypeKind::kLong)};
const KeyColumn kStringColumn = {.type = Type(TypeKind::kString)};
const KeyColumn kStringDesc = {.type = Type(TypeKind::kString), .direction = kDesc};

std::string Key(std::vector<KeyColumn> columns, const std::vector<Value>& values) {
  std::string key;
  KeyEncoder(std::move(columns)).Encode(values, key);
  return key;
}

Result<std::vector<Value>> Decode(std::vector<KeyColumn> columns, std::string_view key) {
  return KeyEncoder(std::move(columns)).Decode(key);
}

TEST(KeyEncoderTest, BytesAreStable) {
  EXPECT_EQ(Key({kLongColumn}, {std::int64_t{258}}),
            "\x01\x80\x00\x00\x00\x00\x00\x01\x02"s);
  EXPECT_EQ(Key({{.type = Type(TypeKind::kInt), .direction = kDesc}}, {-1}),
            "\x01\x80\x00\x00\x00\x00\x00\x00\x00"s);
  EXPECT_EQ(Key({kStringColumn}, {"a\0b"s}),
            "\x01"
            "a\x00\xff"
            "b\x00\x00"s);
  EXPECT_EQ(Key({kStringDesc}, {"a"}), "\x01\x9e\xff\xff"s);
  EXPECT_EQ(Key({{.type = Type(TypeKind::kDouble)}}, {-0.0}),
            "\x01\x7f\xff\xff\xff\xff\xff\xff\xff"s);
  EXPECT_EQ(Key({{.type = Type(TypeKind::kBoolean)}}, {true}), "\x01\x01"s);
  EXPECT_EQ(Key({{.type = Type::Fixed(2)}}, {"\x00\xff"s}), "\x01\x00\xff"s);
  EXPECT_EQ(Key({{.type = Type::Decimal(9, 2)}}, {types::DecimalValue{-1}}),
            "\x01\x7f"s + std::string(15, '\xff'));
}

TEST(KeyEncoderTest, NullOrderIgnoresDirection) {
  EXPECT_EQ(Key({kLongColumn}, {Value()}), "\x00"s);
  EXPECT_EQ(Key({{.type = Type(TypeKind::kLong), .direction = kDesc}}, {Value()}),
            "\x00"s);
  EXPECT_EQ(Key({{.type = Type(TypeKind::kLong), .null_order = kLast}}, {Value()}),
            "\x02"s);
}

TEST(KeyEncoderTest, WideningKeepsKeys) {
  EXPECT_EQ(Key({{.type = Type(TypeKind::kInt)}}, {-7}),
            Key({kLongColumn}, {std::int64_t{-7}}));
  EXPECT_EQ(Key({{.type = Type(TypeKind::kFloat)}}, {0.1f}),
            Key({{.type = Type(TypeKind::kDouble)}}, {double{0.1f}}));
}

TEST(KeyEncoderTest, KeyTypesTextIsThatOfComparableTypes) {
  const auto text = [](const Type& type) {
    return KeyEncoder({{.type = type}}).KeyTypesText();
  };
  EXPECT_EQ(text(Type(TypeKind::kInt)), text(Type(TypeKind::kLong)));
  EXPECT_EQ(text(Type(TypeKind::kFloat)), text(Type(TypeKind::kDouble)));
  EXPECT_EQ(text(Type::Decimal(9, 2)), text(Type::Decimal(20, 2)));
  EXPECT_NE(text(Type::Decimal(9, 2)), text(Type::Decimal(9, 3)));
  EXPECT_NE(text(Type(TypeKind::kTimestamp)), text(Type(TypeKind::kTimestampNs)));
  EXPECT_NE(text(Type::Fixed(2)), text(Type::Fixed(3)));
  EXPECT_EQ(KeyEncoder({kLongColumn, kStringDesc}).KeyTypesText(),
            "long asc nulls first, string desc nulls first");
}

TEST(KeyEncoderTest, TruncatedKeysGiveWhatIsThere) {
  const std::vector<KeyColumn> columns = {kStringDesc, kLongColumn};
  const std::string key = Key(columns, {"abc", std::int64_t{7}});
  EXPECT_THAT(Decode(columns, key).ValueOrDie(), ElementsAre("abc", std::int64_t{7}));
  EXPECT_THAT(Decode(columns, key.substr(0, key.size() - 1)).ValueOrDie(),
              ElementsAre("abc"));
  EXPECT_THAT(Decode(columns, key.substr(0, 3)).ValueOrDie(), ElementsAre("ab"));
  EXPECT_THAT(Decode(columns, key.substr(0, 1)).ValueOrDie(), ElementsAre());
  EXPECT_THAT(Decode(columns, "").ValueOrDie(), ElementsAre());
}

TEST(KeyEncoderTest, CorruptKeysAreRefused) {
  const auto is_corrupt = [](const std::vector<KeyColumn>& columns,
                             std::string_view key) {
    return IsError(Decode(columns, key).status(), ErrorKind::kCorruption);
  };
  EXPECT_TRUE(is_corrupt({kLongColumn}, "\x05\x01"s));
  EXPECT_TRUE(is_corrupt({kLongColumn}, "\x00\x00"s));
  EXPECT_TRUE(is_corrupt({kStringColumn}, "\x01\x00\x07\x07"s));
  EXPECT_TRUE(
      is_corrupt({{.type = Type(TypeKind::kBoolean)}, kLongColumn}, "\x01\x02\x01"s));
  EXPECT_TRUE(is_corrupt({{.type = Type(TypeKind::kInt)}, kLongColumn},
                         "\x01"s + std::string(8, '\xff') + "\x00"s));
}

types::Schema PlaceSchema() {
  const Type location =
      Type::Struct({{.id = 3, .name = "city", .type = Type(TypeKind::kString)}});
  const types::Field tag = {.id = 5, .type = Type(TypeKind::kString)};
  return {.fields = {{.id = 1, .name = "ts", .type = Type(TypeKind::kTimestamptz)},
                     {.id = 2, .name = "location", .type = location},
                     {.id = 4, .name = "tags", .type = Type::List(tag)}}};
}

std::string Refusal(SortField field) {
  const SortOrder order = {.id = SortOrderId(1), .fields = {std::move(field)}};
  return ErrorText(KeyEncoder::Make(order, PlaceSchema()).status());
}

TEST(KeyEncoderTest, MakeRefusesWhatHasNoOrder) {
  EXPECT_THAT(Refusal({.source_id = 99}), HasSubstr("99"));
  EXPECT_THAT(Refusal({.source_id = 2}), HasSubstr("'location'"));
  EXPECT_THAT(Refusal({.source_id = 5}), HasSubstr("inside a list or map"));
  EXPECT_THAT(Refusal({.source_id = 3, .transform = {types::TransformKind::kDay}}),
              HasSubstr("does not apply"));
}

std::shared_ptr<arrow::RecordBatch> PlaceBatch() {
  arrow::TimestampBuilder ts(types::ToArrowType(Type(TypeKind::kTimestamptz)),
                             arrow::default_memory_pool());
  arrow::StringBuilder city;
  EXPECT_TRUE(ts.AppendValues({-1, 0, 1}).ok());
  EXPECT_TRUE(city.AppendValues(std::vector<std::string>{"Oslo", "Rome", "Bonn"}).ok());
  const types::Schema schema = PlaceSchema();
  const auto present = arrow::Buffer::FromString("\x05");
  const auto location = std::make_shared<arrow::StructArray>(
      types::ToArrowType(schema.fields[1].type), 3,
      arrow::ArrayVector{city.Finish().ValueOrDie()}, present);
  const auto tags =
      arrow::MakeArrayOfNull(types::ToArrowType(schema.fields[2].type), 3).ValueOrDie();
  return arrow::RecordBatch::Make(types::ToArrowSchema(schema), 3,
                                  {ts.Finish().ValueOrDie(), location, tags});
}

/// The key values of each row of PlaceBatch.
std::vector<std::vector<Value>> PlaceKeys(const SortOrder& order) {
  const auto keys = EncodeKeys(order, PlaceSchema(), *PlaceBatch()).ValueOrDie();
  const auto encoder = KeyEncoder::Make(order, PlaceSchema()).ValueOrDie();
  std::vector<std::vector<Value>> rows;
  for (std::int64_t row = 0; row < keys.size(); ++row) {
    rows.push_back(encoder.Decode(keys[row]).ValueOrDie());
  }
  return rows;
}

TEST(EncodeKeysTest, ValuesBelowANullStructAreNull) {
  EXPECT_THAT(
      PlaceKeys({.fields = {{.source_id = 3}}}),
      ElementsAre(ElementsAre("Oslo"), ElementsAre(Value()), ElementsAre("Bonn")));
}

TEST(EncodeKeysTest, TransformsAreApplied) {
  const SortOrder order =
      ParseSortOrder("day(ts) desc, truncate(2, location.city)", PlaceSchema())
          .ValueOrDie();
  EXPECT_THAT(
      PlaceKeys(order),
      ElementsAre(ElementsAre(-1, "Os"), ElementsAre(0, Value()), ElementsAre(0, "Bo")));
}

TEST(EncodeKeysTest, NoSortOrderGivesEmptyKeys) {
  EXPECT_THAT(PlaceKeys({}), ElementsAre(ElementsAre(), ElementsAre(), ElementsAre()));
}

TEST(EncodeKeysTest, OtherColumnsThanTheSchemasAreRefused) {
  types::Schema schema = PlaceSchema();
  schema.fields[0].type = Type(TypeKind::kTimestamp);
  EXPECT_THAT(ErrorText(EncodeKeys({}, schema, *PlaceBatch()).status()),
              HasSubstr("'ts'"));
  schema.fields.pop_back();
  EXPECT_THAT(ErrorText(EncodeKeys({}, schema, *PlaceBatch()).status()),
              HasSubstr("3 columns"));
}

TEST(EncodeKeysTest, TupleThenRowSortsByBoth) {
  const auto tuple_key = [](std::string tenant) {
    return Key(PartitionKeyColumns({Type(TypeKind::kString)}), {std::move(tenant)});
  };
  const auto row_key = [](std::int64_t id) { return Key({kLongColumn}, {id}); };
  EXPECT_LT(tuple_key("a") + row_key(9), tuple_key("ab") + row_key(1));
  EXPECT_LT(tuple_key("a") + row_key(1), tuple_key("a") + row_key(2));
}

}  // namespace
}  // namespace firn::order
