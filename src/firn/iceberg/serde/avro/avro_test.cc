#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/serde/avro/schema.h"
#include "firn/iceberg/serde/avro/value.h"
#include "firn/iceberg/serde/deflate.h"

namespace firn::iceberg::avro {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

SchemaPtr SampleSchema() {
  return Record(
      "sample",
      {{"flag", 1, Primitive(Kind::kBoolean)},
       {"number", 2, Primitive(Kind::kLong)},
       {"single", 3, Primitive(Kind::kFloat)},
       {"twice", 4, Primitive(Kind::kDouble)},
       {"text", 5, Optional(Primitive(Kind::kString))},
       {"uuid", 6, Fixed("uuid_fixed", 4, "\"logicalType\": \"uuid\"")},
       {"list", 7, Array(Primitive(Kind::kInt), 8)},
       {"day", 9, Optional(Primitive(Kind::kInt, "\"logicalType\": \"date\""))}});
}

Value SampleValue(std::int64_t number) {
  return {Values{{true},
                 {number},
                 {1.5F},
                 {-2.5},
                 {"a\0b"s},
                 {"0123"s},
                 {Values{{std::int64_t{1}}, {std::int64_t{-1}}}},
                 {}}};
}

std::string Write(Codec codec, std::int64_t count) {
  ContainerWriter writer(SampleSchema(), codec, {{"key", "value"}});
  for (std::int64_t i = 0; i < count; ++i) writer.Add(SampleValue(i));
  return writer.Finish();
}

TEST(AvroTest, LongsAreZigzagVarints) {
  const auto encoded = [](std::int64_t value) {
    std::string out;
    AppendLong(value, out);
    return out;
  };
  EXPECT_EQ(encoded(0), "\x00"s);
  EXPECT_EQ(encoded(-1), "\x01"s);
  EXPECT_EQ(encoded(1), "\x02"s);
  EXPECT_EQ(encoded(-64), "\x7f"s);
  EXPECT_EQ(encoded(64), "\x80\x01"s);
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()}) {
    const std::string bytes = encoded(value);
    std::string_view rest = bytes;
    EXPECT_EQ(TakeLong(rest).ValueOrDie(), value);
    EXPECT_TRUE(rest.empty());
  }
}

TEST(AvroTest, ContainerComesBackEqual) {
  for (const Codec codec : {Codec::kNull, Codec::kDeflate}) {
    for (const std::int64_t count : {0, 1, 10'000}) {
      const Container read = ReadContainer(Write(codec, count)).ValueOrDie();
      EXPECT_EQ(read.metadata.at("key"), "value");
      ASSERT_EQ(static_cast<std::int64_t>(read.values.size()), count);
      for (std::int64_t i = 0; i < count; ++i) {
        RecordReader record(*read.schema, read.values[static_cast<std::size_t>(i)], "");
        ASSERT_EQ(record.Require<std::int64_t>(2, "another name"), i);
        ASSERT_EQ(record.Require<std::string>(5, "text"), "a\0b"s);
        ASSERT_EQ(record.Find(9, "day"), nullptr);
        ASSERT_TRUE(record.status().ok());
      }
    }
  }
}

TEST(AvroTest, BytesDependOnTheContentAlone) {
  EXPECT_EQ(Write(Codec::kDeflate, 5), Write(Codec::kDeflate, 5));
}

/// The numbers of a file's samples.
std::vector<std::int64_t> NumbersOf(std::string_view bytes) {
  std::vector<std::int64_t> numbers;
  const Container read = ReadContainer(bytes).ValueOrDie();
  for (const Value& value : read.values) {
    numbers.push_back(
        RecordReader(*read.schema, value, "").Require<std::int64_t>(2, "number"));
  }
  return numbers;
}

TEST(AvroTest, AFileThatIsTakenOverGrowsOneRecordAtATimeInLargeBlocks) {
  constexpr std::int64_t kCount = 5'000;
  for (const Codec codec : {Codec::kNull, Codec::kDeflate}) {
    std::string file = Write(codec, 0);
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < kCount; ++i) {
      ContainerWriter writer(SampleSchema(), codec, {{"key", fmt::format("{}", i)}});
      writer.Add(SampleValue(i));
      const ContainerBlocks earlier = ReadBlocks(file).ValueOrDie();
      ASSERT_TRUE(writer.CanTakeOver(earlier));
      ASSERT_TRUE(writer.TakeOver(earlier).ok());
      file = writer.Finish();
      expected.insert(expected.begin(), i);
    }
    EXPECT_EQ(NumbersOf(file), expected);
    EXPECT_LE(ReadBlocks(file).ValueOrDie().blocks.size(),
              ReadBlocks(Write(codec, kCount)).ValueOrDie().blocks.size() + 1);
  }
}

TEST(AvroTest, OnlyAFileOfTheSameSchemaAndCodecIsTakenOver) {
  const ContainerWriter writer(SampleSchema(), Codec::kDeflate, {});
  const auto can_take_over = [&](const std::string& file) {
    return writer.CanTakeOver(ReadBlocks(file).ValueOrDie());
  };
  EXPECT_TRUE(can_take_over(Write(Codec::kDeflate, 1)));
  EXPECT_FALSE(can_take_over(Write(Codec::kNull, 1)));
  SchemaPtr other = Record("sample", {{"flag", 2, Primitive(Kind::kBoolean)}});
  EXPECT_FALSE(can_take_over(ContainerWriter(other, Codec::kDeflate, {}).Finish()));
}

TEST(AvroTest, ADamagedBlockThatWouldJoinAnotherIsRefused) {
  std::string bytes = Write(Codec::kDeflate, 1);
  ContainerBlocks file = ReadBlocks(bytes).ValueOrDie();
  ContainerWriter writer(SampleSchema(), Codec::kDeflate, {});
  file.blocks[0].bytes.remove_suffix(1);
  EXPECT_TRUE(IsError(writer.TakeOver(file), ErrorKind::kCorruption));
  file = ReadBlocks(bytes).ValueOrDie();
  file.blocks[0].record_count = 1'000'000;
  EXPECT_TRUE(IsError(writer.TakeOver(file), ErrorKind::kCorruption));
}

TEST(AvroTest, SchemaTextComesBackEqual) {
  const std::string text = ToJson(*SampleSchema());
  EXPECT_THAT(text, HasSubstr(R"("field-id":7)"));
  EXPECT_THAT(text, HasSubstr(R"("element-id":8)"));
  EXPECT_THAT(text, HasSubstr(R"("default":null)"));
  const SchemaPtr parsed = ParseSchema(text).ValueOrDie();
  EXPECT_EQ(parsed->fields.size(), 8U);
  EXPECT_EQ(parsed->fields[6].type->element_id, 8);
}

TEST(AvroTest, SchemaTextIsCompact) {
  const SchemaPtr schema = Record(
      "r", {{"a", 1, Optional(Primitive(Kind::kInt, R"("logicalType": "date")"))},
            {"b", std::nullopt, Fixed("f", 2)},
            {"c", 3, Array(Primitive(Kind::kLong), 4, R"("logicalType": "map")")}});
  EXPECT_EQ(ToJson(*schema),
            R"({"type":"record","name":"r","fields":[{"name":"a","type":["null",)"
            R"({"type":"int","logicalType":"date"}],"default":null,"field-id":1},)"
            R"({"name":"b","type":{"type":"fixed","name":"f","size":2}},)"
            R"({"name":"c","type":{"type":"array","items":"long","element-id":4,)"
            R"("logicalType":"map"},"field-id":3}]})");
}

TEST(AvroTest, EachReaderOfASchemaTextSeesItsOwnFields) {
  const std::string text =
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"}]})";
  const FieldFilter nothing = [](const RecordField&) { return false; };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ParseSchema(text).ValueOrDie()->fields[0].type->kind, Kind::kInt);
    EXPECT_EQ(ParseSchema(text, nothing).ValueOrDie()->fields[0].type->kind,
              Kind::kVerbatim);
  }
}

TEST(AvroTest, TypesMayBeReferredToByName) {
  const SchemaPtr schema = ParseSchema(R"({"type": "record", "name": "r", "fields": [
        {"name": "a", "type": {"type": "fixed", "name": "f", "size": 2}},
        {"name": "b", "type": ["null", "f"]},
        {"name": "c", "type": {"type": "map", "values": "f"}},
        {"name": "d", "type": {"type": "enum", "name": "e", "symbols": ["x"]}}]})")
                               .ValueOrDie();
  const std::string bytes = "ab\2cd\2\2kef\0\0"s;
  std::string_view rest = bytes;
  const Value value = Decode(*schema, rest).ValueOrDie();
  EXPECT_TRUE(rest.empty());
  RecordReader record(*schema, value, "");
  EXPECT_EQ(record.Require<std::string>(0, "b"), "cd");
  EXPECT_EQ(record.Require<Values>(0, "c").size(), 2U);
}

TEST(AvroTest, BrokenSchemasAreRefused) {
  for (const char* text :
       {"", "{}", "[]", R"("f")", R"({"type": "array"})",
        R"({"type": "fixed", "name": "f", "size": -1})",
        R"({"type": "record", "name": "r", "fields": [{"name": "a", "type": "r"}]})",
        R"([{"type": "record", "name": "r", "fields": []}, "r"])"}) {
    const Status status = ParseSchema(text).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << text;
  }
}

TEST(AvroTest, CountsBeyondTheDataAreRefused) {
  const SchemaPtr nulls = Array(Primitive(Kind::kNull), std::nullopt);
  std::string bytes;
  AppendLong(std::int64_t{1} << 60, bytes);
  AppendLong(0, bytes);
  std::string_view rest = bytes;
  EXPECT_TRUE(IsError(Decode(*nulls, rest).status(), ErrorKind::kCorruption));
}

TEST(AvroTest, BlocksOfNullsHoldNoMoreItemsThanTheDataHasBytes) {
  const SchemaPtr nulls = Array(Primitive(Kind::kNull), std::nullopt);
  std::string bytes;
  for (int block = 0; block < 100; ++block) AppendLong(50, bytes);
  AppendLong(0, bytes);
  std::string_view rest = bytes;
  EXPECT_TRUE(IsError(Decode(*nulls, rest).status(), ErrorKind::kCorruption));
}

TEST(AvroTest, EveryTruncationIsCorruption) {
  const std::string whole = Write(Codec::kDeflate, 100);
  const std::size_t header = Write(Codec::kDeflate, 0).size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (size == header) continue;  // a file without records
    const Status status = ReadContainer(std::string_view(whole).substr(0, size)).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << size << ": " << status;
  }
}

TEST(AvroTest, NoFlippedByteCrashes) {
  const std::string whole = Write(Codec::kNull, 3);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {0, 6, 7}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ (1 << bit));
      (void)ReadContainer(broken);
    }
  }
}

TEST(AvroTest, StringsThatAreNotUtf8AreRefusedWithTheirField) {
  const SchemaPtr schema =
      Record("outer", {{"inner", 1,
                        Record("inner", {{"path", 2, Optional(Primitive(Kind::kString))},
                                         {"bytes", 3, Primitive(Kind::kBytes)}})}});
  const auto read = [&](const std::string& path) {
    ContainerWriter writer(schema, Codec::kDeflate, {});
    writer.Add({Values{{Values{{path}, {"\xff"s}}}}});
    return ErrorText(ReadContainer(writer.Finish()).status());
  };
  for (const std::string path : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80",
                                 "\xf4\x90\x80\x80", "0123456\xe9t"}) {
    EXPECT_THAT(read(path),
                HasSubstr("field 'inner': field 'path': a string is not UTF-8"));
  }
  for (const std::string path : {"", "a", "\xc3\xa9", "\xf0\x9f\x90\x98"}) {
    EXPECT_EQ(read(path), "");
  }
}

TEST(AvroTest, AnotherCodecIsNamed) {
  std::string bytes = Write(Codec::kNull, 1);
  const std::size_t at = bytes.find("avro.codec") + 11;
  ASSERT_EQ(bytes.substr(at, 4), "null");
  bytes.replace(at, 4, "zstd");
  EXPECT_THAT(ReadContainer(bytes).status().message(), HasSubstr("codec 'zstd'"));
}

TEST(AvroTest, NamesAreSanitized) {
  EXPECT_EQ(SanitizeName("carrier_1"), "carrier_1");
  EXPECT_EQ(SanitizeName("1st"), "_1st");
  EXPECT_EQ(SanitizeName("a.b c"), "a_x2Eb_x20c");
}

TEST(DeflateTest, ComesBackEqual) {
  std::string text;
  for (std::int64_t i = 0; i < 100'000; ++i) text += fmt::format("{},", i * i);
  const std::string deflated = DeflateRaw(text);
  EXPECT_LT(deflated.size(), text.size());
  EXPECT_EQ(InflateRaw(deflated, text.size()).ValueOrDie(), text);
  EXPECT_THAT(InflateRaw(deflated, text.size() - 1).status().message(),
              HasSubstr("holds more than"));
  EXPECT_FALSE(InflateRaw(deflated.substr(0, 100), text.size()).ok());
  EXPECT_EQ(InflateRaw(DeflateRaw(""), 10).ValueOrDie(), "");
}

}  // namespace
}  // namespace firn::iceberg::avro
