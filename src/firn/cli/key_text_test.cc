#include "firn/cli/key_text.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

using order::Direction;
using order::KeyEncoder;
using order::NullOrder;
using types::Type;
using types::TypeKind;

KeyEncoder CarrierAndTime() {
  return KeyEncoder({{.type = Type(TypeKind::kString)},
                     {.type = Type(TypeKind::kTimestamptz),
                      .direction = Direction::kDescending,
                      .null_order = NullOrder::kNullsLast}});
}

std::string Key(const std::vector<types::Value>& values) {
  std::string key;
  CarrierAndTime().Encode(values, key);
  return key;
}

TEST(KeyTextTest, ShowsTheValues) {
  const std::string key = Key({std::string("AA"), std::int64_t{1'000'000}});
  EXPECT_EQ(KeyText(CarrierAndTime(), key).ValueOrDie(), "AA, 1970-01-01T00:00:01+00:00");
}

TEST(KeyTextTest, ATruncatedKeyEndsInDots) {
  const std::string key = Key({std::string(300, 'x'), std::int64_t{0}});
  EXPECT_EQ(KeyText(CarrierAndTime(), key.substr(0, 3)).ValueOrDie(), "xx, ...");
}

TEST(KeyTextTest, AnEncoderIsFoundFromTheTextOfItsTypes) {
  const auto encoder = EncoderOfKeyTypes(CarrierAndTime().KeyTypesText());
  ASSERT_TRUE(encoder.has_value());
  EXPECT_EQ(encoder->columns(), CarrierAndTime().columns());
  EXPECT_FALSE(EncoderOfKeyTypes("string sideways nulls first").has_value());
}

TEST(KeyTextTest, WithoutAnEncoderThereIsHex) {
  EXPECT_EQ(KeyTextOrHex(std::nullopt, std::string("\x01\xff", 2)), "01ff");
}

TEST(KeyTextTest, ATupleWithoutItsSpecShowsWhatIsStored) {
  EXPECT_EQ(PlainTupleText({std::string("acme"), std::int32_t{516}, std::monostate()}),
            "acme, 516, null");
}

}  // namespace
}  // namespace firn::cli
