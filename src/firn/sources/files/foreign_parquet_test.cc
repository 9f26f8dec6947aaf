#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/files/column_cast.h"
#include "firn/sources/files/record_format.h"
#include "firn/sources/files/record_reader.h"
#include "firn/sources/files/row_text.h"
#include "firn/sources/files/test_folder.h"
#include "firn/sources/files/test_parquet.h"
#include "firn/types/arrow_types.h"

namespace firn::sources {
namespace {

using arrow::TimeUnit;
using testing::ElementsAre;
using testing::HasSubstr;
using types::Type;

Type Primitive(std::string_view text) {
  return types::ParsePrimitiveType(text).ValueOrDie();
}

types::Field Field(std::string name, Type type) {
  return {.name = std::move(name), .type = std::move(type)};
}

types::Schema SchemaOf(std::vector<types::Field> fields) {
  return types::AssignFreshIds({.fields = std::move(fields)});
}

/// A column that no row of fits an int, which makes dead letters of all.
TestColumn TooLarge(std::int64_t rows = 1) {
  std::string json = "[1099511627776";
  for (std::int64_t i = 1; i < rows; ++i) json += ", 1099511627776";
  return {"n", arrow::int64(), json + "]"};
}

std::string RawOfTooLarge(std::string_view c) {
  return fmt::format(R"({{"n":1099511627776,"c":{}}})", c);
}

class ForeignParquetTest : public testing::Test {
 protected:
  /// Writes a file, and reads all of it for a table.
  RecordBlock Read(const std::vector<TestColumn>& columns, types::Schema schema,
                   FileOptions options = {}) {
    const std::string path = folder_.path() + "/a.parquet";
    WriteParquet(path, *BatchOf(columns));
    const auto reader =
        OpenRecords(
            {.path = path, .schema = std::move(schema), .options = std::move(options)})
            .ValueOrDie();
    return *reader->Next().ValueOrDie();
  }

  std::vector<std::string> RawOf(const RecordBlock& block) {
    std::vector<std::string> raw;
    for (const RejectedRecord& record : block.rejected) raw.push_back(record.raw);
    return raw;
  }

  std::vector<std::string> ReasonsOf(const RecordBlock& block) {
    std::vector<std::string> reasons;
    for (const RejectedRecord& record : block.rejected) reasons.push_back(record.reason);
    return reasons;
  }

  TestFolder folder_;
};

struct TypeCase {
  std::shared_ptr<arrow::DataType> type;
  /// One value.
  const char* json;
  const char* raw;
};

/// All that Arrow's Parquet writer takes, and so what it may read.
std::vector<TypeCase> TypesOfParquet() {
  return {
      {arrow::boolean(), "true", "true"},
      {arrow::int8(), "-128", "-128"},
      {arrow::int16(), "-32768", "-32768"},
      {arrow::int32(), "-5", "-5"},
      {arrow::int64(), "-9223372036854775808", "-9223372036854775808"},
      {arrow::uint8(), "255", "255"},
      {arrow::uint16(), "65535", "65535"},
      {arrow::uint32(), "4294967295", "4294967295"},
      {arrow::uint64(), "18446744073709551615", "18446744073709551615"},
      {arrow::float16(), "0.5", "0.5"},
      {arrow::float32(), "0.1", "0.1"},
      {arrow::float64(), "1e300", "1e+300"},
      {arrow::float64(), "NaN", R"("NaN")"},
      {arrow::decimal128(38, 0), R"("99999999999999999999999999999999999999")",
       "99999999999999999999999999999999999999"},
      {arrow::decimal128(12, 10), R"("-0.0000000001")", "-0.0000000001"},
      {arrow::decimal256(76, 40), R"("1.0000000000000000000000000000000000000001")",
       "1.0000000000000000000000000000000000000001"},
      {arrow::date32(), "-1", R"("1969-12-31")"},
      {arrow::date64(), "86400000", R"("1970-01-02")"},
      {arrow::time32(TimeUnit::SECOND), "3661", R"("01:01:01")"},
      {arrow::time32(TimeUnit::MILLI), "1500", R"("00:00:01.5")"},
      {arrow::time64(TimeUnit::MICRO), "1", R"("00:00:00.000001")"},
      {arrow::time64(TimeUnit::NANO), "1", R"("00:00:00.000000001")"},
      {arrow::time64(TimeUnit::NANO), "86400000000000", R"("24:00:00")"},
      {arrow::time64(TimeUnit::MICRO), "-1", R"("-00:00:00.000001")"},
      {arrow::timestamp(TimeUnit::MILLI), "-1", R"("1969-12-31T23:59:59.999")"},
      {arrow::timestamp(TimeUnit::MICRO, "UTC"), "1",
       R"("1970-01-01T00:00:00.000001+00:00")"},
      {arrow::timestamp(TimeUnit::NANO), "1", R"("1970-01-01T00:00:00.000000001")"},
      {arrow::timestamp(TimeUnit::MILLI), "253402300800000",
       R"("+10000-01-01T00:00:00")"},
      {arrow::timestamp(TimeUnit::MILLI), "9223372036854775807",
       R"("9223372036854775807 ms")"},
      {arrow::duration(TimeUnit::SECOND), "-5", R"("-5 s")"},
      {arrow::duration(TimeUnit::NANO), "7", R"("7 ns")"},
      {arrow::utf8(), R"("a\"b\n")", R"("a\"b\u000a")"},
      {arrow::large_utf8(), R"("x")", R"("x")"},
      {arrow::utf8_view(), R"("x")", R"("x")"},
      {arrow::binary(), R"("xy")", R"("7879")"},
      {arrow::large_binary(), R"("xy")", R"("7879")"},
      {arrow::binary_view(), R"("xy")", R"("7879")"},
      {arrow::fixed_size_binary(2), R"("xy")", R"("7879")"},
      {arrow::null(), "null", "null"},
      {arrow::dictionary(arrow::int8(), arrow::utf8()), R"("x")", R"("x")"},
      {arrow::dictionary(arrow::int32(), arrow::uint64()), "18446744073709551615",
       "18446744073709551615"},
      {arrow::list(arrow::uint64()), "[18446744073709551615, null]",
       "[18446744073709551615,null]"},
      {arrow::large_list(arrow::time64(TimeUnit::NANO)), "[1]",
       R"(["00:00:00.000000001"])"},
      {arrow::fixed_size_list(arrow::int8(), 2), "[1, 2]", "[1,2]"},
      {arrow::struct_({arrow::field("a", arrow::uint64()),
                       arrow::field("b", arrow::list(arrow::duration(TimeUnit::MILLI)))}),
       R"({"a": 18446744073709551615, "b": [5]})",
       R"({"a":18446744073709551615,"b":["5 ms"]})"},
      {arrow::map(arrow::utf8(), arrow::uint64()), R"([["k", 18446744073709551615]])",
       R"({"k":18446744073709551615})"},
      {arrow::map(arrow::uint64(), arrow::utf8()), R"([[1, "x"], [1, "y"]])",
       R"({"1":"x","1":"y"})"},
  };
}

TEST_F(ForeignParquetTest, ARejectedRowIsKeptWholeWhateverTheTypesOfItsFile) {
  const types::Schema table = SchemaOf({Field("n", Primitive("int"))});
  for (const TypeCase& expected : TypesOfParquet()) {
    const auto block =
        Read({TooLarge(), {"c", expected.type, fmt::format("[{}]", expected.json)}},
             table, {.ignore_unknown = true});
    EXPECT_THAT(RawOf(block), ElementsAre(RawOfTooLarge(expected.raw))) << *expected.type;
  }
}

TEST_F(ForeignParquetTest, TypesThatOnlyOtherWritersGiveAreKeptWholeToo) {
  const TypeCase cases[] = {
      {arrow::decimal32(9, 2), R"("-1.50")", "-1.50"},
      {arrow::decimal64(18, 3), R"("0.001")", "0.001"},
      {arrow::list_view(arrow::uint64()), "[1, 2]", "[1,2]"},
      {arrow::large_list_view(arrow::int8()), "[]", "[]"},
      {arrow::month_interval(), "3", R"("3M")"},
  };
  for (const TypeCase& expected : cases) {
    const auto rows = BatchOf({{"c", expected.type, fmt::format("[{}]", expected.json)}});
    EXPECT_EQ(RowAsJson(*rows, {}, 0), fmt::format(R"({{"c":{}}})", expected.raw))
        << *expected.type;
  }
}

TEST_F(ForeignParquetTest, ARejectedRowHasTheColumnsOfItsFile) {
  const types::Schema table =
      SchemaOf({Field("more", Primitive("long")), Field("n", Primitive("int"))});
  const auto block = Read({{"gone", arrow::uint64(), "[1, 2, 3]"},
                           {"n", arrow::int64(), "[1, 1099511627776, 3]"}},
                          table, {.ignore_unknown = true});
  EXPECT_THAT(RawOf(block), ElementsAre(R"({"gone":2,"n":1099511627776})"));
}

TEST_F(ForeignParquetTest, WhatFitsLaterIsTheRowThatItsFileWouldHaveGiven) {
  struct Case {
    std::shared_ptr<arrow::DataType> from;
    const char* json;
    Type to;
  };
  const Case cases[] = {
      {arrow::boolean(), "true", Primitive("boolean")},
      {arrow::uint64(), "7", Primitive("long")},
      {arrow::int64(), "9007199254740991", Primitive("double")},
      {arrow::uint16(), "7", Primitive("decimal(12, 2)")},
      {arrow::float16(), "0.1", Primitive("float")},
      {arrow::float32(), "0.1", Primitive("double")},
      {arrow::decimal256(50, 1), "\"1.5\"", Primitive("decimal(9, 2)")},
      {arrow::decimal128(12, 10), "\"1E-10\"", Primitive("decimal(12, 10)")},
      {arrow::date64(), "86400000", Primitive("date")},
      {arrow::time32(TimeUnit::MILLI), "1500", Primitive("time")},
      {arrow::time64(TimeUnit::NANO), "1000", Primitive("time")},
      {arrow::timestamp(TimeUnit::SECOND), "1", Primitive("timestamptz")},
      {arrow::timestamp(TimeUnit::NANO, "UTC"), "1000", Primitive("timestamp")},
      {arrow::timestamp(TimeUnit::NANO), "1", Primitive("timestamptz_ns")},
      {arrow::int64(), "1000", Primitive("timestamptz")},
      {arrow::binary(), "\"a\\\"b\"", Primitive("string")},
      {arrow::utf8(), "\"xy\"", Primitive("binary")},
      {arrow::fixed_size_binary(2), "\"xy\"", Primitive("fixed[2]")},
      {arrow::fixed_size_binary(16), "\"0123456789abcdef\"", Primitive("uuid")},
      {arrow::dictionary(arrow::int8(), arrow::binary()), "\"x\"", Primitive("string")},
      {arrow::list(arrow::float32()), "[0.1, null]",
       Type::List(Field("", Primitive("double")))},
      {arrow::map(arrow::int32(), arrow::binary()), "[[1, \"x\"]]",
       Type::Map(Field("", Primitive("long")), Field("", Primitive("string")))},
      {arrow::struct_({arrow::field("a", arrow::binary())}), "{\"a\": \"x\"}",
       Type::Struct({Field("a", Primitive("string"))})},
  };
  const FileOptions options = {.time_units = {{"c", sources::TimeUnit::kMilliseconds}}};
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.from->ToString() + " to " + expected.to.ToString());
    const std::vector<TestColumn> file = {
        TooLarge(), {"c", expected.from, fmt::format("[{}]", expected.json)}};
    const auto block = Read(
        file, SchemaOf({Field("n", Primitive("int")), Field("c", expected.to)}), options);
    ASSERT_EQ(block.rejected.size(), 1u);

    const types::Schema later =
        SchemaOf({Field("n", Primitive("long")), Field("c", expected.to)});
    const auto again = ReadSingleRecord(
        block.rejected[0].raw,
        {.format = FileFormat::kNdjson, .columns = {}, .options = options}, later);
    const auto whole = Read(file, later, options);
    ASSERT_EQ(whole.rows->num_rows(), 1);
    ASSERT_NE(again.ValueOrDie().row, nullptr) << again->reason;
    EXPECT_TRUE(again->row->Equals(*whole.rows)) << block.rejected[0].raw;
  }
}

TEST_F(ForeignParquetTest, ANumberThatADoubleDoesNotKeepIsNotRoundedLater) {
  const types::Schema table = SchemaOf({Field("c", Primitive("double"))});
  const auto block = Read({{"c", arrow::int64(), "[9007199254740993]"}}, table);
  ASSERT_EQ(block.rejected.size(), 1u);
  const auto again = ReadSingleRecord(block.rejected[0].raw, {}, table).ValueOrDie();
  EXPECT_EQ(again.row, nullptr);
  EXPECT_THAT(again.reason, HasSubstr("9007199254740993"));
}

TEST_F(ForeignParquetTest, ValuesThatTheTypeDoesNotHaveAreRejected) {
  struct Case {
    std::shared_ptr<arrow::DataType> from;
    /// The second of three is no value of the type.
    const char* json;
    Type to;
    const char* reason;
  };
  const auto times = arrow::time64(TimeUnit::MICRO);
  const Type text = Primitive("string");
  const Case cases[] = {
      {times, "[86399999999, 86400000000, 0]", Primitive("time"),
       "column 'c': '24:00:00' is not of type time"},
      {times, "[1, -1, null]", Primitive("time"),
       "column 'c': '-00:00:00.000001' is not of type time"},
      {arrow::time32(TimeUnit::SECOND), "[0, 90000, null]", Primitive("time"),
       "column 'c': '25:00:00' is not of type time"},
      {arrow::list(times), "[[0], [0, -1], []]", Type::List(Field("", Primitive("time"))),
       "column 'c.element': '-00:00:00.000001' is not of type time"},
      {arrow::map(arrow::utf8(), arrow::int64()),
       R"([[["a", 1], ["b", 2]], [["a", 1], ["b", 2], ["a", 3]], [["a", 1]]])",
       Type::Map(Field("", text), Field("", Primitive("long"))),
       "column 'c': the key 'a' is there twice"},
      {arrow::map(arrow::int32(), arrow::utf8()),
       R"([[[1, "x"], [2, "x"]], [[7, "x"], [7, "x"]], null])",
       Type::Map(Field("", Primitive("long")), Field("", text)),
       "column 'c': the key '7' is there twice"},
      {arrow::list(arrow::map(arrow::utf8(), arrow::utf8())),
       R"([[[["a", "x"]]], [[], [["a", "x"], ["a", "x"]]], [[]]])",
       Type::List(Field("", Type::Map(Field("", text), Field("", text)))),
       "column 'c.element': the key 'a' is there twice"},
  };
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.json);
    const auto block =
        Read({{"c", expected.from, expected.json}}, SchemaOf({Field("c", expected.to)}));
    EXPECT_THAT(block.records, ElementsAre(0, 2));
    EXPECT_THAT(ReasonsOf(block), ElementsAre(expected.reason));
  }
}

TEST_F(ForeignParquetTest, ADecimalWithMoreDigitsThanItsTypeIsRejected) {
  // No well-behaved writer makes it; the bytes of a file may hold it all the same.
  const auto wide = BatchOf({{"c", arrow::decimal128(9, 2), R"(["1.00", "1000.00"])"}});
  const auto narrow = arrow::decimal128(5, 2);
  const auto data = wide->column(0)->data()->Copy();
  data->type = narrow;
  const auto rows =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("c", narrow)}), 2,
                               arrow::ArrayVector{arrow::MakeArray(data)});
  Rejections rejections;
  RejectInvalidRows(*rows, SchemaOf({Field("c", Primitive("decimal(5, 2)"))}),
                    rejections);
  ASSERT_EQ(rejections.size(), 1U);
  EXPECT_EQ(rejections.at(1).text, "column 'c': '1000.00' is not of type decimal(5, 2)");
}

}  // namespace
}  // namespace firn::sources
