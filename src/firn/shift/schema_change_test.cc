// Rows that lie in the WAL while the schema of their table changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/test_warehouse.h"
#include "firn/types/test_fields.h"

namespace firn::shift {
namespace {

using types::Column;
using types::Field;
using types::Required;
using types::Schema;
using types::Type;
using types::TypeKind;

Field StructOf(std::vector<Field> fields) {
  return Column(2, "c", Type::Struct(std::move(fields)));
}

Field ListOf(Field element) { return Column(2, "c", Type::List(std::move(element))); }

Field MapTo(Field value) {
  return Column(2, "c", Type::Map(Column(9, "key", TypeKind::kString), std::move(value)));
}

const Field kInt = Column(2, "c", TypeKind::kInt);
const Field kX = Column(10, "x", TypeKind::kInt);
const Field kY = Column(11, "y", TypeKind::kFloat);
const Field kXAndY = StructOf({kX, kY});

/// What becomes of the column beside "id".
struct Case {
  const char* name;
  Field before;
  /// Nothing if it is dropped.
  std::optional<Field> after;
  /// A value that is in the WAL, as JSON, and what the table has of it.
  const char* written;
  const char* expected;
  /// One that is written after the change.
  const char* written_after = "null";
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

class SchemaChangeTest : public testing::TestWithParam<Case> {};

std::string Row(int id, const std::optional<Field>& column, std::string_view value) {
  if (!column) return fmt::format(R"({{"id": {}}})", id);
  return fmt::format(R"({{"id": {}, "{}": {}}})", id, column->name, value);
}

void ChangeTo(TestWarehouse& warehouse, const std::vector<Field>& columns) {
  warehouse.Change(
      {iceberg::AddSchema{{.fields = columns}}, iceberg::SetCurrentSchema{}});
}

TEST_P(SchemaChangeTest, RowsOfBeforeLandAsTheTableIsNow) {
  const Case& test = GetParam();
  const Field id = Required(Column(1, "id", TypeKind::kLong));
  TestWarehouse warehouse({.sort_by = "id", .columns = {id}});
  ChangeTo(warehouse, {id, test.before});
  warehouse.WriteJson(fmt::format("[{}]", Row(1, test.before, test.written)));
  ChangeTo(warehouse, test.after ? std::vector{id, *test.after} : std::vector{id});
  warehouse.OpenShard();
  warehouse.WriteJson(fmt::format("[{}]", Row(2, test.after, test.written_after)));
  EXPECT_EQ(warehouse.Shift().figures.files(), 1);
  warehouse.ExpectJson(fmt::format("[{}, {}]", Row(1, test.after, test.expected),
                                   Row(2, test.after, test.written_after)));
}

INSTANTIATE_TEST_SUITE_P(
    Columns, SchemaChangeTest,
    testing::Values(Case{"Dropped", kInt, std::nullopt, "7", ""},
                    Case{"Renamed", kInt, Column(2, "other", TypeKind::kInt), "7", "7",
                         "8"},
                    Case{"DroppedAndMadeAnewUnderItsName", kInt,
                         Column(3, "c", TypeKind::kInt), "7", "null", "8"},
                    Case{"DroppedAndAnotherTypeUnderItsName", kInt,
                         Column(3, "c", TypeKind::kString), "7", "null", R"("text")"},
                    Case{"IntToLong", kInt, Column(2, "c", TypeKind::kLong), "-7", "-7",
                         "5000000000"},
                    Case{"FloatToDouble", Column(2, "c", TypeKind::kFloat),
                         Column(2, "c", TypeKind::kDouble), "2.5", "2.5", "0.1"},
                    Case{"WiderDecimal", Column(2, "c", Type::Decimal(4, 2)),
                         Column(2, "c", Type::Decimal(38, 2)), R"("-12.25")",
                         R"("-12.25")", R"("123456789012345678901234567890123456.78")"},
                    Case{"DateToTimestamp", Column(2, "c", TypeKind::kDate),
                         Column(2, "c", TypeKind::kTimestamp), "-1",
                         R"("1969-12-31 00:00:00")", R"("2020-02-29 12:30:00")"},
                    Case{"RequiredMadeOptional", Required(kInt), kInt, "7", "7"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Structs, SchemaChangeTest,
    testing::Values(
        Case{"FieldAdded", StructOf({kX}), kXAndY, R"({"x": 7})",
             R"({"x": 7, "y": null})", R"({"x": 8, "y": 0.5})"},
        Case{"FieldAddedBelowANull", StructOf({kX}), kXAndY, "null", "null",
             R"({"x": 8, "y": 0.5})"},
        Case{"FieldDropped", kXAndY, StructOf({kY}), R"({"x": 7, "y": 0.5})",
             R"({"y": 0.5})", R"({"y": 1.5})"},
        Case{"AllFieldsReplaced", StructOf({kX}), StructOf({kY}), R"({"x": 7})",
             R"({"y": null})", R"({"y": 1.5})"},
        Case{"FieldsReordered", kXAndY, StructOf({kY, kX}), R"({"x": 7, "y": 0.5})",
             R"({"y": 0.5, "x": 7})", R"({"y": 1.5, "x": 8})"},
        Case{"NamesExchanged", StructOf({kX, Column(11, "y", TypeKind::kInt)}),
             StructOf({Column(10, "y", TypeKind::kInt), Column(11, "x", TypeKind::kInt)}),
             R"({"x": 7, "y": 8})", R"({"y": 7, "x": 8})", R"({"y": 1, "x": 2})"},
        Case{"FieldWidened", StructOf({kX}), StructOf({Column(10, "x", TypeKind::kLong)}),
             R"({"x": 7})", R"({"x": 7})", R"({"x": 5000000000})"},
        Case{"FieldMadeOptional", StructOf({Required(kX)}), StructOf({kX}), R"({"x": 7})",
             R"({"x": 7})", R"({"x": null})"},
        Case{"StructAdded", StructOf({kX}),
             StructOf({kX, Column(12, "z", Type::Struct({kY}))}), R"({"x": 7})",
             R"({"x": 7, "z": null})", R"({"x": 8, "z": {"y": 1.5}})"},
        Case{"FieldOfAStructInAStructAdded",
             StructOf({Column(12, "z", Type::Struct({kX}))}),
             StructOf({Column(12, "z", Type::Struct({kX, kY}))}), R"({"z": {"x": 7}})",
             R"({"z": {"x": 7, "y": null}})", R"({"z": {"x": 8, "y": 1.5}})"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    ListsAndMaps, SchemaChangeTest,
    testing::Values(
        Case{"ElementWidened", ListOf(kX), ListOf(Column(10, "element", TypeKind::kLong)),
             "[7, null]", "[7, null]", "[5000000000]"},
        Case{"ElementMadeOptional", ListOf(Required(kX)), ListOf(kX), "[7]", "[7]",
             "[null]"},
        Case{"FieldOfAnElementAdded", ListOf(Column(12, "element", Type::Struct({kX}))),
             ListOf(Column(12, "element", Type::Struct({kX, kY}))),
             R"([{"x": 7}, null, {"x": null}])",
             R"([{"x": 7, "y": null}, null, {"x": null, "y": null}])",
             R"([{"x": 8, "y": 1.5}])"},
        Case{"ValueWidened", MapTo(kX), MapTo(Column(10, "value", TypeKind::kLong)),
             R"([["a", 7], ["b", null]])", R"([["a", 7], ["b", null]])",
             R"([["c", 5000000000]])"},
        Case{"FieldOfAValueAdded", MapTo(Column(12, "value", Type::Struct({kX}))),
             MapTo(Column(12, "value", Type::Struct({kX, kY}))),
             R"([["a", {"x": 7}], ["b", null]])",
             R"([["a", {"x": 7, "y": null}], ["b", null]])",
             R"([["c", {"x": 8, "y": 1.5}]])"},
        Case{"FieldOfAValueDropped", MapTo(Column(12, "value", Type::Struct({kX, kY}))),
             MapTo(Column(12, "value", Type::Struct({kY}))),
             R"([["a", {"x": 7, "y": 0.5}]])", R"([["a", {"y": 0.5}]])",
             R"([["c", {"y": 1.5}]])"}),
    [](const auto& test) { return test.param.name; });

Field WithDefault(Field field, const char* initial) {
  field.unknown["initial-default"] = initial;
  field.unknown["write-default"] = "null";
  return field;
}

/// Columns that are added with a default (format version 3), and what rows of before
/// have.
struct DefaultCase {
  const char* name;
  Field added;
  const char* expected;
};

void PrintTo(const DefaultCase& test, std::ostream* out) { *out << test.name; }

class DefaultTest : public testing::TestWithParam<DefaultCase> {};

TEST_P(DefaultTest, RowsOfBeforeHaveTheInitialDefault) {
  const Field id = Required(Column(1, "id", TypeKind::kLong));
  TestWarehouse warehouse({.sort_by = "id", .columns = {id}});
  warehouse.WriteJson(R"([{"id": 1}, {"id": 2}])");
  ChangeTo(warehouse, {id, GetParam().added});
  EXPECT_EQ(warehouse.Shift().figures.files(), 1);
  warehouse.ExpectJson(fmt::format("[{}, {}]",
                                   Row(1, GetParam().added, GetParam().expected),
                                   Row(2, GetParam().added, GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(
    , DefaultTest,
    testing::Values(
        DefaultCase{"Int", WithDefault(kInt, "7"), "7"},
        DefaultCase{"OfARequiredColumn", Required(WithDefault(kInt, "7")), "7"},
        DefaultCase{"Null", WithDefault(kInt, "null"), "null"},
        DefaultCase{"Boolean", WithDefault(Column(2, "c", TypeKind::kBoolean), "true"),
                    "true"},
        DefaultCase{"Double", WithDefault(Column(2, "c", TypeKind::kDouble), "0.25"),
                    "0.25"},
        DefaultCase{"Decimal",
                    WithDefault(Column(2, "c", Type::Decimal(30, 2)), R"("-12.25")"),
                    R"("-12.25")"},
        DefaultCase{"String",
                    WithDefault(Column(2, "c", TypeKind::kString), R"("a\n\"b")"),
                    R"("a\n\"b")"},
        DefaultCase{"Date",
                    WithDefault(Column(2, "c", TypeKind::kDate), R"("1969-12-31")"),
                    "-1"},
        DefaultCase{"Timestamptz",
                    WithDefault(Column(2, "c", TypeKind::kTimestamptz),
                                R"("1969-12-31T23:00:00.5+00:00")"),
                    "-3599500000"},
        DefaultCase{"Binary", WithDefault(Column(2, "c", TypeKind::kBinary), R"("6162")"),
                    R"("ab")"},
        DefaultCase{"StructOfDefaults",
                    WithDefault(StructOf({WithDefault(kX, "7"), kY}), "{}"),
                    R"({"x": 7, "y": null})"},
        DefaultCase{"NullStruct", StructOf({WithDefault(kX, "7")}), "null"}),
    [](const auto& test) { return test.param.name; });

TEST(NestedDefaultTest, AFieldOfStructsThatAreThereHasItsDefault) {
  const Field id = Required(Column(1, "id", TypeKind::kLong));
  TestWarehouse warehouse({.sort_by = "id", .columns = {id}});
  ChangeTo(warehouse, {id, StructOf({kX})});
  warehouse.WriteJson(R"([{"id": 1, "c": {"x": 1}}, {"id": 2, "c": null}])");
  ChangeTo(warehouse, {id, StructOf({kX, Required(WithDefault(kY, "0.5"))})});
  warehouse.Shift();
  warehouse.ExpectJson(R"([{"id": 1, "c": {"x": 1, "y": 0.5}}, {"id": 2, "c": null}])");
}

/// A column that the table is laid out by changes, and what is in the WAL stays in order
/// and in its partition.
class LayoutChangeTest : public testing::Test {
 protected:
  void Make(const Field& column, const char* partition_by, const char* sort_by) {
    const Field id = Required(Column(1, "id", TypeKind::kLong));
    column_ = column;
    warehouse_.emplace(TestLayout{
        .partition_by = partition_by, .sort_by = sort_by, .columns = {id, column}});
  }

  /// A segment with ids from 1 on, counted over all.
  void Write(const std::vector<const char*>& values) {
    warehouse_->OpenShard();
    std::vector<std::string> rows;
    for (const char* value : values) rows.push_back(Row(++last_id_, column_, value));
    warehouse_->WriteJson(fmt::format("[{}]", fmt::join(rows, ", ")));
  }

  void Change(const Field& column) {
    column_ = column;
    ChangeTo(*warehouse_, {CurrentSchema(warehouse_->Load()).fields[0], column});
  }

  void Reorder(const char* sort_by) {
    const Schema schema = CurrentSchema(warehouse_->Load());
    warehouse_->Change(
        {iceberg::AddSortOrder{order::ParseSortOrder(sort_by, schema).ValueOrDie()},
         iceberg::SetDefaultSortOrder{}});
  }

  /// Ids and values of each file in turn.
  void ExpectShifted(std::int64_t files,
                     const std::vector<std::pair<int, const char*>>& expected) {
    EXPECT_EQ(warehouse_->Shift().figures.files(), files);
    std::vector<std::string> rows;
    for (const auto& [id, value] : expected) rows.push_back(Row(id, column_, value));
    warehouse_->ExpectJson(fmt::format("[{}]", fmt::join(rows, ", ")));
  }

  std::optional<TestWarehouse> warehouse_;
  Field column_;
  int last_id_ = 0;
};

TEST_F(LayoutChangeTest, SortColumnRenamed) {
  Make(kInt, "", "c desc");
  Write({"1", "3"});
  Change(Column(2, "other", TypeKind::kInt));
  Write({"2"});
  ExpectShifted(1, {{2, "3"}, {3, "2"}, {1, "1"}});
}

TEST_F(LayoutChangeTest, SortColumnOfAWiderDecimal) {
  Make(Column(2, "c", Type::Decimal(3, 1)), "", "c");
  Write({R"("-1.5")", R"("12.5")"});
  Change(Column(2, "c", Type::Decimal(30, 1)));
  Write({R"("-99999999999999999999.5")", R"("2.0")"});
  ExpectShifted(1, {{3, R"("-99999999999999999999.5")"},
                    {1, R"("-1.5")"},
                    {4, R"("2.0")"},
                    {2, R"("12.5")"}});
}

TEST_F(LayoutChangeTest, SortColumnWithATransformWidened) {
  Make(kInt, "", "truncate(10, c), id desc");
  Write({"-11", "3", "5"});
  Change(Column(2, "c", TypeKind::kLong));
  Write({"4", "5000000000"});
  ExpectShifted(1, {{1, "-11"}, {4, "4"}, {3, "5"}, {2, "3"}, {5, "5000000000"}});
}

TEST_F(LayoutChangeTest, SortColumnOfDatesThatBecameTimestamps) {
  Make(Column(2, "c", TypeKind::kDate), "", "c desc");
  Write({"-1", "18321"});
  Write({"10957"});
  Change(Column(2, "c", TypeKind::kTimestamp));
  Write({R"("2010-01-01 12:30:00")"});
  // Keys of dates and of timestamps are not compared: two files.
  ExpectShifted(2, {{2, R"("2020-02-29 00:00:00")"},
                    {3, R"("2000-01-01 00:00:00")"},
                    {1, R"("1969-12-31 00:00:00")"},
                    {4, R"("2010-01-01 12:30:00")"}});
}

TEST_F(LayoutChangeTest, BucketsOfDatesThatBecameTimestampsAreRefused) {
  Make(Column(2, "c", TypeKind::kDate), "", "bucket(16, c), id");
  Write({"1", "18321"});
  Change(Column(2, "c", TypeKind::kTimestamp));
  const Status refused = warehouse_->TryShift().status();
  EXPECT_THAT(ErrorText(refused), testing::HasSubstr("sorted by buckets of dates"));
}

TEST_F(LayoutChangeTest, PartitionColumnOfAWiderDecimal) {
  Make(Column(2, "c", Type::Decimal(3, 1)), "c", "id");
  Write({R"("1.5")"});
  Change(Column(2, "c", Type::Decimal(30, 1)));
  Write({R"("1.5")"});
  ExpectShifted(1, {{1, R"("1.5")"}, {2, R"("1.5")"}});
}

TEST_F(LayoutChangeTest, PartitionColumnRenamed) {
  Make(Column(2, "c", TypeKind::kString), "c", "id");
  Write({R"("a")", "null"});
  Change(Column(2, "other", TypeKind::kString));
  Write({R"("a")"});
  ExpectShifted(2, {{1, R"("a")"}, {3, R"("a")"}, {2, "null"}});
}

TEST_F(LayoutChangeTest, RowsOfAnUnsortedTableStayAsTheyAreOnceItIsSorted) {
  Make(kInt, "", "");
  Write({"3", "1"});
  Reorder("c");
  Write({"5", "4"});
  ExpectShifted(2, {{1, "3"}, {2, "1"}, {4, "4"}, {3, "5"}});
}

TEST_F(LayoutChangeTest, RowsOfASortedTableStaySortedOnceItIsNot) {
  Make(kInt, "", "c");
  Write({"3", "1"});
  Reorder("");
  Write({"5", "4"});
  ExpectShifted(2, {{3, "5"}, {4, "4"}, {2, "1"}, {1, "3"}});
}

/// A planner reads the table, then the WAL: in between the table may change, and rows be
/// written that the planner's table has no columns for.
class StaleTableTest : public testing::Test {
 protected:
  StaleTableTest() {
    warehouse_.wal_faults() = [this](const storage::StoreCall& call) {
      if (call.operation != storage::StoreOperation::kList) return storage::kPass;
      const auto change = std::exchange(before_listing_, nullptr);
      if (change) change();
      return storage::kPass;
    };
  }

  /// Called when the next shift has read the table.
  std::function<void()> before_listing_;
  TestWarehouse warehouse_;
};

TEST_F(StaleTableTest, ValuesOfAColumnThatItDoesNotKnowYetAreNotLost) {
  warehouse_.Write("b1");
  before_listing_ = [&] {
    warehouse_.Change({iceberg::AddSchema{warehouse_.SchemaWith([](Schema& schema) {
                         schema.fields.push_back(Column(4, "extra", TypeKind::kString));
                       })},
                       iceberg::SetCurrentSchema{}});
    warehouse_.OpenShard();
    warehouse_.Write({{{.key = "a", .number = 2, .extra = "new"}}});
  };
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Files(), "[a2:new b1]");
}

TEST_F(StaleTableTest, RowsOfASpecAndOrderThatItDoesNotKnowYetAreTaken) {
  warehouse_.Write("b1");
  before_listing_ = [&] {
    const Schema schema = CurrentSchema(warehouse_.Load());
    warehouse_.Change(
        {iceberg::AddSpec{types::ParsePartitionSpec("tenant", schema).ValueOrDie()},
         iceberg::SetDefaultSpec{},
         iceberg::AddSortOrder{order::ParseSortOrder("key desc", schema).ValueOrDie()},
         iceberg::SetDefaultSortOrder{}});
    warehouse_.OpenShard();
    warehouse_.Write("P/a2 P/c3");
  };
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Files(), "[b1] tenant=P [P/c3 P/a2]");
}

TEST_F(StaleTableTest, ASpecThatTheTableHasNoMoreIsSaid) {
  const wal::SegmentName segment = warehouse_.Write("b1");
  const Schema schema = CurrentSchema(warehouse_.Load());
  warehouse_.Change(
      {iceberg::AddSpec{types::ParsePartitionSpec("tenant", schema).ValueOrDie()},
       iceberg::SetDefaultSpec{}});
  warehouse_.catalog_script().shown = [](iceberg::TableMetadata& metadata) {
    metadata.partition_specs.erase(metadata.partition_specs.begin());
  };
  const Status status = warehouse_.TryShift().status();
  EXPECT_THAT(status.message(),
              testing::AllOf(testing::HasSubstr(SegmentKey(segment)),
                             testing::HasSubstr("partition spec 0"),
                             testing::HasSubstr("'firn wal quarantine'")));
}

}  // namespace
}  // namespace firn::shift
