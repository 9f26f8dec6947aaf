#include <gmock/gmock.h>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/table.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/metadata.h>

#include "firn/parquet_io/parquet_fixture.h"
#include "firn/storage/counting_store.h"
#include "firn/types/arrow_types.h"

namespace firn::parquet_io {
namespace {

using testing::HasSubstr;
using types::Type;
using types::TypeKind;

/// NaN equals NaN, as bits are what is stored.
testing::AssertionResult Same(const Batch& actual, const Batch& expected) {
  const auto options = arrow::EqualOptions::Defaults().nans_equal(true);
  if (!actual->schema()->Equals(*expected->schema(), /*check_metadata=*/true)) {
    return testing::AssertionFailure()
           << actual->schema()->ToString(true) << "\n is not\n"
           << expected->schema()->ToString(true);
  }
  for (int i = 0; i < expected->num_columns(); ++i) {
    if (actual->column(i)->Equals(*expected->column(i), options)) continue;
    return testing::AssertionFailure() << expected->column_name(i) << ":\n"
                                       << actual->column(i)->ToString() << "\n is not\n"
                                       << expected->column(i)->ToString();
  }
  return testing::AssertionSuccess();
}

using RoundTripTest = ParquetFixture;

TEST_F(RoundTripTest, EveryTypeComesBack) {
  const types::Schema schema = EveryType();
  const Batch rows = RandomRows(schema, 3000, TestSeed());
  for (const Codec codec :
       {Codec::kUncompressed, Codec::kSnappy, Codec::kGzip, Codec::kZstd, Codec::kLz4}) {
    const WrittenFile file =
        WriteFile(schema, {rows->Slice(0, 7), rows->Slice(7)}, {.codec = codec});
    EXPECT_EQ(file.rows, 3000);
    EXPECT_TRUE(Same(ReadFile(file, schema), rows)) << "seed " << TestSeed();
  }
}

TEST_F(RoundTripTest, RangesOfRowsAreRead) {
  const types::Schema schema = EveryType();
  const Batch rows = RandomRows(schema, 2500, TestSeed());
  const RowGroupSource source = Open(WriteFile(schema, {rows}));
  for (const auto& [first, count] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 1}, {999, 2}, {1000, 1000}, {1999, 501}, {2500, 0}, {0, 2500}}) {
    EXPECT_TRUE(Same(TryRead(source, schema, first, count).ValueOrDie(),
                     rows->Slice(first, count)))
        << first << "+" << count;
  }
}

TEST_F(RoundTripTest, RangesThatAreNotThereAreInvalid) {
  const types::Schema schema = SchemaOf({Optional(1, "n", Type(TypeKind::kInt))});
  RowGroupSource source = Open(WriteFile(schema, {Rows(schema, "[[1], [2]]")}));
  EXPECT_TRUE(TryRead(source, schema, 1, 2).status().IsInvalid());
  EXPECT_TRUE(TryRead(source, schema, -1, 1).status().IsInvalid());
  source.row_group = 1;
  EXPECT_THAT(TryRead(source, schema, 0, 1).status().message(),
              HasSubstr("no row group 1 among 1"));
}

TEST_F(RoundTripTest, DictionaryColumnsAreWrittenAsTheirValues) {
  const types::Schema schema = SchemaOf({Optional(1, "s", Type(TypeKind::kString))});
  const Batch rows = Rows(schema, R"([["b"], ["a"], [null], ["b"]])");
  const auto encoded = std::static_pointer_cast<arrow::StringArray>(rows->column(0));
  arrow::StringDictionaryBuilder builder;
  for (const auto value : *encoded) {
    ASSERT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  }
  const auto column = builder.Finish().ValueOrDie();
  const Batch dictionary_rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("s", column->type())}), 4, {column});
  const WrittenFile file = WriteFile(schema, {dictionary_rows, rows});
  EXPECT_TRUE(Same(ReadFile(file, schema)->Slice(0, 4), rows));
  EXPECT_TRUE(Same(ReadFile(file, schema)->Slice(4), rows));
}

TEST_F(RoundTripTest, AFileWithoutRowsIsAFile) {
  const types::Schema schema = EveryType();
  const RowGroupSource source = Open(WriteFile(schema, {}));
  EXPECT_EQ(source.footer->num_row_groups(), 0);
  EXPECT_EQ(source.footer->key_value_metadata()->Get("firn.test").ValueOrDie(),
            "a value");
}

TEST_F(RoundTripTest, WrongRowsAreRefusedByName) {
  const types::Schema schema = SchemaOf({Required(1, "n", Type(TypeKind::kInt))});
  const types::Schema optional = SchemaOf({Optional(1, "n", Type(TypeKind::kInt))});
  const types::Schema text = SchemaOf({Optional(1, "n", Type(TypeKind::kString))});
  const auto writer = FileWriter::Make(schema, {}).ValueOrDie();
  EXPECT_EQ(writer->Write(*Rows(optional, "[[null]]")).message(),
            "required column 'n' has nulls");
  EXPECT_EQ(writer->Write(*Rows(text, R"([["x"]])")).message(),
            "column 'n' is string in the batch, but int32 in the file");
}

TEST_F(RoundTripTest, ANullStructMayHoldRequiredFields) {
  const Type number(TypeKind::kInt);
  const Type inner = Type::Struct({Required(3, "x", number), Required(4, "y", number)});
  const types::Schema schema = SchemaOf(
      {Optional(1, "s",
                Type::Struct({Required(2, "in", inner), Optional(5, "z", number)})),
       Optional(6, "l",
                Type::List(
                    Optional(7, "element", Type::Struct({Required(8, "x", number)}))))});
  const Batch given =
      Rows(schema, R"([[[[1, 2], 3], [[4], null]], [null, null], [[[5, 6], null], []]])");
  EXPECT_TRUE(ReadFile(WriteFile(schema, {given}), schema)->Equals(*given));
  // As Arrow makes a column that a file lacks: null at every depth.
  arrow::ArrayVector nulls;
  for (const types::Field& field : schema.fields) {
    nulls.push_back(
        arrow::MakeArrayOfNull(types::ToArrowType(field.type), 3).ValueOrDie());
  }
  const Batch absent = arrow::RecordBatch::Make(given->schema(), 3, nulls);
  EXPECT_TRUE(
      ReadFile(WriteFile(schema, {absent, given}), schema)->Slice(3)->Equals(*given));
}

TEST_F(RoundTripTest, NestedNullsOfRequiredFieldsAreRefused) {
  const Type number(TypeKind::kInt);
  const types::Schema schema = SchemaOf(
      {Optional(1, "s", Type::Struct({Required(2, "x", number)})),
       Optional(3, "l", Type::List(Required(4, "element", number))),
       Optional(5, "m",
                Type::Map(Required(6, "key", number), Required(7, "value", number)))});
  const struct {
    std::string_view rows;
    std::string_view message;
  } cases[] = {
      {R"([[[1], [1], [[1, 1]]], [null, null, null]])", ""},
      {R"([[null, [], []], [[1], [1], [[1, 1]]]])", ""},
      {R"([[[1], [1], [[1, 1]]], [[null], [1], []]])", "required column 's.x' has nulls"},
      {R"([[null, [1, null], []]])", "required column 'l.element' has nulls"},
      {R"([[[1], null, [[1, null]]]])", "required column 'm.value' has nulls"},
  };
  for (const auto& [rows, message] : cases) {
    const auto writer = FileWriter::Make(schema, {}).ValueOrDie();
    EXPECT_EQ(writer->Write(*Rows(schema, rows)).message(), message) << rows;
  }
}

TEST_F(RoundTripTest, WrongOptionsAreRefused) {
  const types::Schema schema = SchemaOf({Required(1, "n", Type(TypeKind::kInt))});
  const types::Schema empty = SchemaOf({Required(1, "s", Type::Struct({}))});
  EXPECT_THAT(FileWriter::Make(schema, {.compression_level = 99}).status().message(),
              HasSubstr("compression level 99"));
  EXPECT_THAT(
      FileWriter::Make(schema, {.sorting_columns = {{.field_id = 2}}}).status().message(),
      HasSubstr("sorting column 2"));
  EXPECT_THAT(FileWriter::Make(empty, {}).status().message(), HasSubstr("'s'"));
}

TEST_F(RoundTripTest, FooterSaysWhoWroteItAndHowItIsSorted) {
  const types::Schema schema =
      SchemaOf({Optional(4, "p",
                         Type::Struct({Optional(5, "x", Type(TypeKind::kInt)),
                                       Optional(6, "y", Type(TypeKind::kLong))}))});
  const WrittenFile file = WriteFile(
      schema, {Rows(schema, R"([[{"x": 1, "y": 2}]])")},
      {.sorting_columns = {{.field_id = 6, .descending = true, .nulls_first = true}}});
  const RowGroupSource source = Open(file);
  EXPECT_EQ(source.footer->created_by(), "firn version 0.1.0");
  EXPECT_EQ(source.footer->writer_version().application_, "firn");
  const auto sorting = source.footer->RowGroup(0)->sorting_columns();
  ASSERT_EQ(sorting.size(), 1U);
  EXPECT_EQ(sorting[0].column_idx, 1);
  EXPECT_TRUE(sorting[0].descending);
  EXPECT_TRUE(sorting[0].nulls_first);
}

// ---- Projection

class ProjectionTest : public ParquetFixture {
 protected:
  /// What `wanted` sees of rows written with `schema`.
  Result<Batch> View(const types::Schema& schema, std::string_view json,
                     const types::Schema& wanted) {
    const Batch rows = Rows(schema, json);
    return TryRead(Open(WriteFile(schema, {rows})), wanted, 0, rows->num_rows());
  }
};

TEST_F(ProjectionTest, ColumnsAreFoundByIdRenamedReorderedAndLeftOut) {
  const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kInt)),
                                         Optional(2, "b", Type(TypeKind::kString)),
                                         Optional(3, "c", Type(TypeKind::kInt))});
  const types::Schema wanted = SchemaOf({Optional(2, "a", Type(TypeKind::kString)),
                                         Optional(1, "z", Type(TypeKind::kInt)),
                                         Optional(9, "new", Type(TypeKind::kDate))});
  EXPECT_TRUE(Same(View(schema, R"([[1, "x", 3], [null, "y", 4]])", wanted).ValueOrDie(),
                   Rows(wanted, R"([["x", 1, null], ["y", null, null]])")));
}

TEST_F(ProjectionTest, WidenedColumnsArePromoted) {
  const types::Schema schema = SchemaOf(
      {Optional(1, "i", Type(TypeKind::kInt)), Optional(2, "f", Type(TypeKind::kFloat)),
       Optional(3, "d", Type::Decimal(9, 2)), Optional(4, "e", Type::Decimal(18, 2))});
  const types::Schema wanted = SchemaOf(
      {Optional(1, "i", Type(TypeKind::kLong)), Optional(2, "f", Type(TypeKind::kDouble)),
       Optional(3, "d", Type::Decimal(18, 2)), Optional(4, "e", Type::Decimal(38, 2))});
  const std::string json = R"([[-1, 1.5, "-1.25", "1.00"], [null, null, null, null]])";
  EXPECT_TRUE(Same(View(schema, json, wanted).ValueOrDie(), Rows(wanted, json)));
}

TEST_F(ProjectionTest, NestedFieldsAreFoundByIdToo) {
  const Type text(TypeKind::kString);
  const Type number(TypeKind::kInt);
  const types::Schema schema = SchemaOf(
      {Optional(1, "s", Type::Struct({Optional(2, "a", number), Optional(3, "b", text)})),
       Optional(4, "l",
                Type::List(Optional(
                    5, "element",
                    Type::Struct({Optional(6, "x", number), Optional(7, "y", text)})))),
       Optional(8, "m",
                Type::Map(Required(9, "key", text), Optional(10, "value", number)))});
  const Type wide(TypeKind::kLong);
  const types::Schema wanted = SchemaOf(
      {Optional(8, "m", Type::Map(Required(9, "key", text), Optional(10, "value", wide))),
       Optional(4, "l",
                Type::List(Optional(5, "element",
                                    Type::Struct({Optional(7, "why", text),
                                                  Optional(20, "new", text)})))),
       Optional(1, "s",
                Type::Struct({Optional(21, "new", wide), Optional(2, "a", wide)}))});
  const Batch seen =
      View(schema,
           R"([[[1, "b"], [[1, "p"], null, [2, null]], [["k", 7], ["l", null]]],
               [null, [], []], [[null, "c"], null, null]])",
           wanted)
          .ValueOrDie();
  EXPECT_TRUE(Same(seen, Rows(wanted, R"([
      [[["k", 7], ["l", null]], [["p", null], null, [null, null]], [null, 1]],
      [[], [], null], [null, null, [null, null]]])")));
}

TEST_F(ProjectionTest, StructWithoutAnyWantedFieldKeepsItsNulls) {
  const types::Schema schema = SchemaOf(
      {Optional(1, "s", Type::Struct({Optional(2, "a", Type(TypeKind::kInt))}))});
  const types::Schema wanted = SchemaOf(
      {Optional(1, "s", Type::Struct({Optional(3, "b", Type(TypeKind::kInt))}))});
  EXPECT_TRUE(Same(View(schema, "[[[1]], [null], [[2]]]", wanted).ValueOrDie(),
                   Rows(wanted, "[[[null]], [null], [[null]]]")));
}

TEST_F(ProjectionTest, NoColumnOfTheFileIsStillItsRows) {
  const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kInt))});
  const types::Schema wanted = SchemaOf({Optional(2, "b", Type(TypeKind::kInt))});
  EXPECT_TRUE(Same(View(schema, "[[1], [2]]", wanted).ValueOrDie(),
                   Rows(wanted, "[[null], [null]]")));
}

TEST_F(ProjectionTest, WhatDoesNotFitIsCorruptionThatNamesFileAndColumn) {
  const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kLong))});
  const struct {
    types::Field wanted;
    std::string_view message;
  } cases[] = {
      {Optional(1, "n", Type(TypeKind::kInt)), "column 'n' (field id 1) should be int"},
      {Optional(1, "n", Type::List(Optional(2, "element", Type(TypeKind::kLong)))),
       "column 'n' (field id 1) should be list"},
      {Required(2, "m", Type(TypeKind::kInt)), "required column 'm' (field id 2)"},
      {Required(1, "n", Type(TypeKind::kLong)), "required column 'n' has nulls"},
  };
  for (const auto& [wanted, message] : cases) {
    const Status status = View(schema, "[[null]]", SchemaOf({wanted})).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(message));
    EXPECT_THAT(status.message(), HasSubstr(".parquet"));
  }
}

// ---- Requests

class RequestTest : public ParquetFixture {
 protected:
  storage::CountingStore counted_{store_};
};

TEST_F(RequestTest, FooterTakesOneGetOrTwoIfItIsLong) {
  for (const std::size_t padding : {0, 200'000}) {
    const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kInt))});
    const auto writer = FileWriter::Make(schema, {}).ValueOrDie();
    const WrittenFile file =
        writer->Finish({{"padding", std::string(padding, 'x')}}).ValueOrDie();
    ASSERT_TRUE(counted_.PutWhole("f", std::string_view(*file.bytes)).ok());
    const std::int64_t before = counted_.counts().gets;
    const Footer footer = ReadFooter(counted_, "f", file.bytes->size()).ValueOrDie();
    EXPECT_EQ(footer->key_value_metadata()->Get("padding")->size(), padding);
    EXPECT_EQ(counted_.counts().gets - before, padding == 0 ? 1 : 2);
  }
}

TEST_F(RequestTest, RowGroupTakesOneGet) {
  const types::Schema schema = EveryType();
  const Batch rows = RandomRows(schema, 3000, TestSeed());
  const WrittenFile file = WriteFile(schema, {rows}, {.page_bytes = 1000});
  RowGroupSource source = Open(file);
  source.file = OpenObject(counted_, "file-1.parquet", file.bytes->size());
  EXPECT_TRUE(Same(Read(source, schema), rows));
  EXPECT_EQ(counted_.counts().gets, 1);
}

}  // namespace
}  // namespace firn::parquet_io
