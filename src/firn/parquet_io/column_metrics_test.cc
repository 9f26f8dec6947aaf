#include "firn/parquet_io/column_metrics.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include <arrow/array.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "firn/parquet_io/parquet_fixture.h"
#include "firn/types/arrow_types.h"
#include "firn/types/bounds.h"
#include "firn/types/single_value.h"

namespace firn::parquet_io {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;
using types::Value;

const MetricsConfig kFull{.default_mode = {.kind = MetricsMode::Kind::kFull}};

/// "values nulls nans [lower, upper]"; "-" for what is not there.
std::string Text(const Type& type, const ColumnMetrics& metrics) {
  const auto bound = [&](const std::optional<std::string>& bytes) {
    if (!bytes) return std::string("-");
    return types::ToText(type, types::FromBytes(type, *bytes).ValueOrDie());
  };
  return fmt::format("{} {} {} [{}, {}]", metrics.value_count, metrics.null_count,
                     metrics.nan_count ? std::to_string(*metrics.nan_count) : "-",
                     bound(metrics.lower_bound), bound(metrics.upper_bound));
}

/// The metrics of one column, given as a JSON array of values.
std::string MetricsOf(const Type& type, std::string_view json,
                      const MetricsConfig& config = {}) {
  const types::Schema schema = SchemaOf({Optional(1, "c", type)});
  const auto values =
      Rows(SchemaOf({Optional(1, "c", Type::List(Optional(2, "element", type)))}),
           fmt::format("[[{}]]", json));
  const auto& list = static_cast<const arrow::ListArray&>(*values->column(0));
  const auto batch = arrow::RecordBatch::Make(types::ToArrowSchema(schema),
                                              list.value_length(0), {list.values()});
  return Text(type, CollectMetrics(schema, config, *batch).at(1));
}

TEST(ColumnMetricsTest, CountsAndBounds) {
  const struct {
    Type type;
    std::string_view values;
    std::string_view metrics;
  } cases[] = {
      {Type(TypeKind::kInt), "[3, null, -7, 3]", "4 1 - [-7, 3]"},
      {Type(TypeKind::kInt), "[]", "0 0 - [-, -]"},
      {Type(TypeKind::kInt), "[null, null]", "2 2 - [-, -]"},
      {Type(TypeKind::kBoolean), "[true, null, true]", "3 1 - [true, true]"},
      {Type(TypeKind::kBoolean), "[true, false]", "2 0 - [false, true]"},
      {Type(TypeKind::kDouble), "[NaN, 1.5, NaN, -2]", "4 0 2 [-2.0, 1.5]"},
      {Type(TypeKind::kDouble), "[NaN, null]", "2 1 1 [-, -]"},
      {Type(TypeKind::kDouble), "[Inf, -Inf]", "2 0 0 [-Infinity, Infinity]"},
      {Type(TypeKind::kString), R"(["b", "", "a"])", "3 0 - [, b]"},
      {Type(TypeKind::kString), R"(["ab", "abc"])", "2 0 - [ab, abc]"},
      {Type::Decimal(9, 2), R"(["-1.00", "300.25"])", "2 0 - [-1.00, 300.25]"},
      {Type(TypeKind::kDate), "[0, -1]", "2 0 - [1969-12-31, 1970-01-01]"},
  };
  for (const auto& [type, values, metrics] : cases) {
    EXPECT_EQ(MetricsOf(type, values), metrics) << type.ToString() << " " << values;
  }
}

TEST(ColumnMetricsTest, ZeroIsMinusZeroBelowAndPlusZeroAbove) {
  for (const std::string_view values : {"[0.0]", "[-0.0]", "[0.0, -0.0]"}) {
    for (const TypeKind kind : {TypeKind::kFloat, TypeKind::kDouble}) {
      EXPECT_EQ(MetricsOf(Type(kind), values).substr(6), "[-0.0, 0.0]") << values;
    }
  }
}

TEST(ColumnMetricsTest, BoundsAreInTheBinaryForm) {
  const types::Schema schema = SchemaOf({Optional(1, "i", Type(TypeKind::kInt)),
                                         Optional(2, "d", Type::Decimal(38, 0)),
                                         Optional(3, "u", Type(TypeKind::kUuid))});
  const FileMetrics metrics =
      CollectMetrics(schema, {}, *Rows(schema, R"([[1, "128", "0123456789abcdef"]])"));
  EXPECT_EQ(metrics.at(1).lower_bound, std::string("\x01\0\0\0", 4));
  EXPECT_EQ(metrics.at(2).lower_bound, std::string("\0\x80", 2));
  EXPECT_EQ(metrics.at(3).lower_bound, "0123456789abcdef");
}

TEST(ColumnMetricsTest, LongBoundsAreCutByMode) {
  const Type text(TypeKind::kString);
  const std::string_view values = R"(["éééééé", "zzzzzz"])";
  const auto cut_to = [](std::int32_t width) {
    return MetricsConfig{.default_mode = {.width = width}};
  };
  EXPECT_EQ(MetricsOf(text, values, cut_to(2)), "2 0 - [zz, éê]");
  EXPECT_EQ(MetricsOf(text, values, cut_to(6)), "2 0 - [zzzzzz, éééééé]");
  EXPECT_EQ(MetricsOf(text, values, kFull), "2 0 - [zzzzzz, éééééé]");
  EXPECT_EQ(
      MetricsOf(text, values, {.default_mode = {.kind = MetricsMode::Kind::kCounts}}),
      "2 0 - [-, -]");
  EXPECT_EQ(MetricsOf(text, R"(["a", "􏿿􏿿"])", cut_to(1)), "2 0 - [a, -]");
}

TEST(ColumnMetricsTest, ModesAreByColumn) {
  const types::Schema schema = SchemaOf(
      {Optional(1, "a", Type(TypeKind::kInt)), Optional(2, "b", Type(TypeKind::kInt))});
  const MetricsConfig config{.columns = {{1, {.kind = MetricsMode::Kind::kNone}}}};
  const FileMetrics metrics = CollectMetrics(schema, config, *Rows(schema, "[[1, 2]]"));
  EXPECT_FALSE(metrics.contains(1));
  EXPECT_TRUE(metrics.at(2).lower_bound.has_value());
}

TEST(ColumnMetricsTest, FieldsOfAStructThatIsNullAreNull) {
  const types::Schema schema = SchemaOf(
      {Optional(1, "s", Type::Struct({Required(2, "n", Type(TypeKind::kInt))}))});
  const Batch rows = Rows(schema, "[[[9]], [null], [[5]], [[7]]]");
  EXPECT_EQ(Text(Type(TypeKind::kInt), CollectMetrics(schema, {}, *rows).at(2)),
            "4 1 - [5, 9]");
  EXPECT_EQ(
      Text(Type(TypeKind::kInt), CollectMetrics(schema, {}, *rows->Slice(1, 2)).at(2)),
      "2 1 - [5, 5]");
}

TEST(ColumnMetricsTest, BelowListsAndMapsThereAreCountsOnly) {
  const Type number(TypeKind::kDouble);
  const types::Schema schema =
      SchemaOf({Optional(1, "l", Type::List(Optional(2, "element", number))),
                Optional(3, "m",
                         Type::Map(Required(4, "key", Type(TypeKind::kString)),
                                   Optional(5, "value", number)))});
  const Batch rows =
      Rows(schema, R"([[[1, NaN, null], [["k", 1]]], [[], null], [null, []]])");
  const FileMetrics metrics = CollectMetrics(schema, {}, *rows);
  EXPECT_EQ(Text(number, metrics.at(2)), "5 3 1 [-, -]");
  EXPECT_EQ(Text(Type(TypeKind::kString), metrics.at(4)), "3 2 - [-, -]");
  EXPECT_EQ(Text(number, metrics.at(5)), "3 2 0 [-, -]");
}

// ---- Merging

std::string Sum(const Type& type, std::string_view a, std::string_view b,
                const MetricsConfig& config_a = {}, const MetricsConfig& config_b = {}) {
  const types::Schema schema = SchemaOf({Optional(1, "c", type)});
  FileMetrics total = CollectMetrics(schema, config_a, *Rows(schema, a));
  MergeMetrics(schema, CollectMetrics(schema, config_b, *Rows(schema, b)), total);
  return total.empty() ? "unknown" : Text(type, total.at(1));
}

TEST(MergeMetricsTest, SumsCountsAndWidensBounds) {
  const Type number(TypeKind::kDouble);
  EXPECT_EQ(Sum(number, "[[1], [null]]", "[[-3], [NaN]]"), "4 1 1 [-3.0, 1.0]");
  EXPECT_EQ(Sum(number, "[[1], [5]]", "[[null], [NaN]]"), "4 1 1 [1.0, 5.0]");
  EXPECT_EQ(Sum(number, "[[NaN]]", "[[2]]"), "2 0 1 [2.0, 2.0]");
  EXPECT_EQ(Sum(number, "[[null]]", "[[NaN]]"), "2 1 1 [-, -]");
}

TEST(MergeMetricsTest, WhatOneSideDoesNotKnowIsUnknown) {
  const Type text(TypeKind::kString);
  const MetricsConfig counts{.default_mode = {.kind = MetricsMode::Kind::kCounts}};
  const MetricsConfig narrow{.default_mode = {.width = 1}};
  EXPECT_EQ(Sum(text, R"([["a"]])", R"([["b"]])", {}, counts), "2 0 - [-, -]");
  EXPECT_EQ(Sum(text, R"([["a"]])", "[[null]]", {}, counts), "2 1 - [a, a]");
  EXPECT_EQ(Sum(text, R"([["a"]])", R"([["􏿿􏿿"]])", {}, narrow), "2 0 - [a, -]");
}

TEST(MergeMetricsTest, AColumnThatOneSideLacksIsLacking) {
  const types::Schema schema = SchemaOf(
      {Optional(1, "a", Type(TypeKind::kInt)), Optional(2, "b", Type(TypeKind::kInt))});
  const FileMetrics both = CollectMetrics(schema, {}, *Rows(schema, "[[1, 2]]"));
  FileMetrics one = both;
  one.erase(2);
  FileMetrics total = both;
  MergeMetrics(schema, one, total);
  EXPECT_FALSE(total.contains(2));
  total = one;
  MergeMetrics(schema, both, total);
  EXPECT_FALSE(total.contains(2));
  total = {};
  MergeMetrics(schema, both, total);
  EXPECT_EQ(total, both);
}

TEST(MergeMetricsTest, ABoundThatIsNoValueBoundsNothing) {
  const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kInt))});
  FileMetrics total = CollectMetrics(schema, {}, *Rows(schema, "[[1]]"));
  FileMetrics damaged = total;
  damaged[1].lower_bound = "xyz";
  MergeMetrics(schema, damaged, total);
  EXPECT_EQ(Text(Type(TypeKind::kInt), total.at(1)), "2 0 - [-, 1]");
}

// ---- Against the plainest way to say it

struct Leaf {
  Field field;
  std::vector<Value> values;  // null also where a struct above is null
};

void CollectLeaves(const Field& field, const arrow::Array& array,
                   const std::vector<bool>& present, std::vector<Leaf>& leaves) {
  if (field.type.is_primitive()) {
    Leaf leaf{.field = field};
    for (std::int64_t i = 0; i < array.length(); ++i) {
      leaf.values.push_back(present[i] ? types::ValueAt(array, field.type, i) : Value());
    }
    leaves.push_back(std::move(leaf));
  }
  if (field.type.kind() != TypeKind::kStruct) return;
  const auto& structs = static_cast<const arrow::StructArray&>(array);
  std::vector<bool> inner = present;
  for (std::int64_t i = 0; i < array.length(); ++i)
    inner[i] = present[i] && array.IsValid(i);
  for (std::size_t i = 0; i < field.type.fields().size(); ++i) {
    CollectLeaves(field.type.fields()[i], *structs.field(static_cast<int>(i)), inner,
                  leaves);
  }
}

bool IsNaN(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::isnan(*number);
  if (const auto* number = std::get_if<float>(&value)) return std::isnan(*number);
  return false;
}

/// Of two zeros, which are equal, the one that bounds both.
Value OuterZero(const Value& value, bool lower) {
  const auto outer = [&](auto zero) { return lower ? -zero : zero; };
  if (value == Value(0.0F)) return outer(0.0F);
  if (value == Value(0.0)) return outer(0.0);
  return value;
}

ColumnMetrics NaiveMetrics(const Leaf& leaf) {
  const TypeKind kind = leaf.field.type.kind();
  ColumnMetrics metrics{.value_count = static_cast<std::int64_t>(leaf.values.size())};
  if (kind == TypeKind::kFloat || kind == TypeKind::kDouble) metrics.nan_count = 0;
  std::vector<Value> bounded;
  for (const Value& value : leaf.values) {
    if (types::IsNull(value)) {
      ++metrics.null_count;
    } else if (IsNaN(value)) {
      ++*metrics.nan_count;
    } else {
      bounded.push_back(value);
    }
  }
  if (bounded.empty()) return metrics;
  metrics.lower_bound =
      types::ToBytes(leaf.field.type, OuterZero(std::ranges::min(bounded), true));
  metrics.upper_bound =
      types::ToBytes(leaf.field.type, OuterZero(std::ranges::max(bounded), false));
  return metrics;
}

std::vector<Leaf> LeavesOf(const types::Schema& schema, const arrow::RecordBatch& rows) {
  std::vector<Leaf> leaves;
  const std::vector<bool> all(static_cast<std::size_t>(rows.num_rows()), true);
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    CollectLeaves(schema.fields[i], *rows.column(static_cast<int>(i)), all, leaves);
  }
  return leaves;
}

using RandomMetricsTest = ParquetFixture;

TEST_F(RandomMetricsTest, FullMetricsAreTheNaiveOnes) {
  const types::Schema schema = EveryType();
  for (std::uint64_t seed = TestSeed(); seed < TestSeed() + 20; ++seed) {
    const Batch rows =
        RandomRows(schema, 40, seed)->Slice(static_cast<std::int64_t>(seed % 9));
    const FileMetrics metrics = CollectMetrics(schema, kFull, *rows);
    for (const Leaf& leaf : LeavesOf(schema, *rows)) {
      EXPECT_EQ(Text(leaf.field.type, metrics.at(leaf.field.id)),
                Text(leaf.field.type, NaiveMetrics(leaf)))
          << leaf.field.name << ", seed " << seed;
      EXPECT_EQ(metrics.at(leaf.field.id), NaiveMetrics(leaf)) << leaf.field.name;
    }
  }
}

TEST_F(RandomMetricsTest, TruncatedBoundsAreNeverWrong) {
  const types::Schema schema = SchemaOf({Optional(1, "s", Type(TypeKind::kString)),
                                         Optional(2, "b", Type(TypeKind::kBinary))});
  for (std::uint64_t seed = TestSeed(); seed < TestSeed() + 50; ++seed) {
    const Batch rows = RandomRows(schema, 8, seed);
    const FileMetrics metrics =
        CollectMetrics(schema, {.default_mode = {.width = 3}}, *rows);
    for (const Leaf& leaf : LeavesOf(schema, *rows)) {
      const ColumnMetrics& column = metrics.at(leaf.field.id);
      for (const Value& value : leaf.values) {
        if (types::IsNull(value)) continue;
        EXPECT_LE(*column.lower_bound, std::get<std::string>(value)) << "seed " << seed;
        if (!column.upper_bound) continue;
        EXPECT_GE(*column.upper_bound, std::get<std::string>(value)) << "seed " << seed;
      }
    }
  }
}

TEST_F(RandomMetricsTest, SumOfPartsIsTheMetricsOfAll) {
  const types::Schema schema = EveryType();
  for (std::uint64_t seed = TestSeed(); seed < TestSeed() + 20; ++seed) {
    const Batch rows = RandomRows(schema, 60, seed);
    FileMetrics total;
    for (std::int64_t row = 0; row < 60; row += 7) {
      MergeMetrics(schema, CollectMetrics(schema, {}, *rows->Slice(row, 7)), total);
    }
    EXPECT_EQ(total, CollectMetrics(schema, {}, *rows)) << "seed " << seed;
  }
}

TEST_F(RandomMetricsTest, CountsAreThoseOfTheParquetFooter) {
  const types::Schema schema = EveryType();
  const Batch rows = RandomRows(schema, 500, TestSeed());
  const WrittenFile file = WriteFile(schema, {rows->Slice(0, 123), rows->Slice(123)});
  EXPECT_EQ(file.metrics, CollectMetrics(schema, {}, *rows));
  const RowGroupSource source = Open(file);
  const auto row_group = source.footer->RowGroup(0);
  for (int i = 0; i < row_group->num_columns(); ++i) {
    const auto chunk = row_group->ColumnChunk(i);
    const FieldId id = row_group->schema()->Column(i)->schema_node()->field_id();
    EXPECT_EQ(file.metrics.at(id).value_count, chunk->num_values()) << "field id " << id;
    EXPECT_EQ(file.metrics.at(id).null_count, chunk->encoded_statistics()->null_count)
        << "field id " << id;
    EXPECT_EQ(file.column_sizes.at(id), chunk->total_compressed_size());
  }
}

}  // namespace
}  // namespace firn::parquet_io
