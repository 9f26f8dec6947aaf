#include <bit>
#include <cmath>
#include <limits>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/core/test_seed.h"
#include "firn/order/key_bound.h"
#include "firn/order/key_encoder.h"
#include "firn/types/arrow_types.h"

namespace firn::order {
namespace {

using types::DecimalValue;
using types::Type;
using types::TypeKind;
using types::Value;

using Row = std::vector<Value>;

const std::vector<Type>& OrderableTypes() {
  static const std::vector<Type> kTypes = {Type(TypeKind::kBoolean),
                                           Type(TypeKind::kInt),
                                           Type(TypeKind::kLong),
                                           Type(TypeKind::kFloat),
                                           Type(TypeKind::kDouble),
                                           Type::Decimal(38, 4),
                                           Type(TypeKind::kDate),
                                           Type(TypeKind::kTime),
                                           Type(TypeKind::kTimestamp),
                                           Type(TypeKind::kTimestamptz),
                                           Type(TypeKind::kTimestampNs),
                                           Type(TypeKind::kTimestamptzNs),
                                           Type(TypeKind::kString),
                                           Type(TypeKind::kUuid),
                                           Type::Fixed(3),
                                           Type(TypeKind::kBinary)};
  return kTypes;
}

/// Few distinct values, and those at the edges, so that rows often agree in a column.
class RowGenerator {
 public:
  explicit RowGenerator(std::uint64_t seed) : random_(seed) {}

  std::size_t Below(std::size_t bound) { return random_.Random64() % bound; }

  std::vector<KeyColumn> Columns() {
    std::vector<KeyColumn> columns(1 + Below(4));
    for (KeyColumn& column : columns) {
      column.type = Pick(OrderableTypes());
      if (Below(2) == 0) column.direction = Direction::kDescending;
      if (Below(2) == 0) column.null_order = NullOrder::kNullsLast;
    }
    return columns;
  }

  Row RowOf(const std::vector<KeyColumn>& columns) {
    Row row;
    for (const KeyColumn& column : columns) {
      row.push_back(Below(6) == 0 ? Value() : ValueOf(column.type));
    }
    return row;
  }

 private:
  template <typename T>
  T Pick(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }

  template <typename Integer>
  Integer Number() {
    using Limits = std::numeric_limits<Integer>;
    if (Below(3) == 0) return static_cast<Integer>(random_.Random64());
    return Pick<Integer>({0, 1, -1, 255, 256, -256, Limits::min(), Limits::max()});
  }

  template <typename Float>
  Float Floating() {
    using Limits = std::numeric_limits<Float>;
    const Float value =
        Pick<Float>({Float{0}, Float{1}, Limits::min(), Limits::max(),
                     Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN(),
                     static_cast<Float>(random_.Random64() % 1000)});
    return std::copysign(value, Below(2) == 0 ? Float{-1} : Float{1});
  }

  DecimalValue Decimal() {
    const auto high = static_cast<__int128>(Number<std::int64_t>()) >> 1;
    if (Below(2) == 0) return {Number<std::int64_t>()};
    return {high << 60 | static_cast<std::uint32_t>(random_.Random64())};
  }

  std::string Text(const std::vector<std::string>& pieces) {
    const std::size_t count = Below(8) == 0 ? 200 : Below(4);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += Pick(pieces);
    return text;
  }

  std::string Bytes(std::size_t size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) {
      bytes += Pick<char>({'\0', '\x01', '\x7f', '\x80', '\xfe', '\xff'});
    }
    return bytes;
  }

  Value ValueOf(const Type& type) {
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return Below(2) == 0;
      case TypeKind::kInt:
      case TypeKind::kDate:
        return Number<std::int32_t>();
      case TypeKind::kFloat:
        return Floating<float>();
      case TypeKind::kDouble:
        return Floating<double>();
      case TypeKind::kDecimal:
        return Decimal();
      case TypeKind::kString:
        return Text({"a", "b", std::string(1, '\0'), "\u00fc", "\uffff", "\U0001F9CA",
                     "\U0010ffff", "\x7f"});
      case TypeKind::kBinary:
        return Below(8) == 0 ? Bytes(300) : Bytes(Below(4));
      case TypeKind::kUuid:
        return Bytes(16);
      case TypeKind::kFixed:
        return Bytes(static_cast<std::size_t>(type.length()));
      default:
        return Number<std::int64_t>();
    }
  }

  FakeRuntime random_;
};

// The order as the Iceberg spec words it, without a byte of an encoding.

/// -NaN, numbers, NaN.
template <typename Float>
int FloatClass(Float value) {
  if (!std::isnan(value)) return 0;
  return std::signbit(value) ? -1 : 1;
}

template <typename Float>
int CompareFloats(Float a, Float b) {
  if (FloatClass(a) != FloatClass(b)) return FloatClass(a) < FloatClass(b) ? -1 : 1;
  if (FloatClass(a) != 0) return 0;
  if (a != b) return a < b ? -1 : 1;
  return int{std::signbit(b)} - int{std::signbit(a)};
}

int CompareBytes(const std::string& a, const std::string& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto left = static_cast<unsigned char>(a[i]);
    const auto right = static_cast<unsigned char>(b[i]);
    if (left != right) return left < right ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : (a.size() < b.size() ? -1 : 1);
}

int ComparePresent(const Value& a, const Value& b) {
  if (const auto* text = std::get_if<std::string>(&a)) {
    return CompareBytes(*text, std::get<std::string>(b));
  }
  if (const auto* number = std::get_if<float>(&a)) {
    return CompareFloats(*number, std::get<float>(b));
  }
  if (const auto* number = std::get_if<double>(&a)) {
    return CompareFloats(*number, std::get<double>(b));
  }
  return a == b ? 0 : (a < b ? -1 : 1);
}

int CompareColumn(const KeyColumn& column, const Value& a, const Value& b) {
  if (IsNull(a) && IsNull(b)) return 0;
  if (IsNull(a) || IsNull(b)) {
    const int nulls_first = IsNull(a) ? -1 : 1;
    return column.null_order == NullOrder::kNullsFirst ? nulls_first : -nulls_first;
  }
  const int ascending = ComparePresent(a, b);
  return column.direction == Direction::kAscending ? ascending : -ascending;
}

int CompareRows(const std::vector<KeyColumn>& columns, const Row& a, const Row& b) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int result = CompareColumn(columns[i], a[i], b[i]);
    if (result != 0) return result;
  }
  return 0;
}

int Sign(int number) { return (number > 0) - (number < 0); }

/// As text in which every bit of a float shows.
std::string Exact(const Value& value) {
  if (const auto* number = std::get_if<float>(&value)) {
    return fmt::format("f{:x}", std::bit_cast<std::uint32_t>(*number));
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return fmt::format("d{:x}", std::bit_cast<std::uint64_t>(*number));
  }
  return {};
}

bool AreSame(const Value& a, const Value& b) {
  return a.index() == b.index() && Exact(a) == Exact(b) && (!Exact(a).empty() || a == b);
}

struct Append {
  arrow::ArrayBuilder& builder;

  template <typename Builder>
  Builder& As() {
    return static_cast<Builder&>(builder);
  }

  Status operator()(std::monostate) { return builder.AppendNull(); }
  Status operator()(bool value) { return As<arrow::BooleanBuilder>().Append(value); }
  Status operator()(float value) { return As<arrow::FloatBuilder>().Append(value); }
  Status operator()(double value) { return As<arrow::DoubleBuilder>().Append(value); }
  Status operator()(std::int32_t value) {
    if (builder.type()->id() == arrow::Type::DATE32) {
      return As<arrow::Date32Builder>().Append(value);
    }
    return As<arrow::Int32Builder>().Append(value);
  }
  Status operator()(std::int64_t value) {
    if (builder.type()->id() == arrow::Type::TIMESTAMP) {
      return As<arrow::TimestampBuilder>().Append(value);
    }
    if (builder.type()->id() == arrow::Type::TIME64) {
      return As<arrow::Time64Builder>().Append(value);
    }
    return As<arrow::Int64Builder>().Append(value);
  }
  Status operator()(const DecimalValue& value) {
    const auto bits = static_cast<unsigned __int128>(value.unscaled);
    return As<arrow::Decimal128Builder>().Append(
        arrow::Decimal128(static_cast<std::int64_t>(value.unscaled >> 64),
                          static_cast<std::uint64_t>(bits)));
  }
  Status operator()(const std::string& value) {
    if (builder.type()->id() == arrow::Type::FIXED_SIZE_BINARY) {
      return As<arrow::FixedSizeBinaryBuilder>().Append(value.data());
    }
    return As<arrow::BinaryBuilder>().Append(value);
  }
};

std::shared_ptr<arrow::Array> ArrayOf(const Type& type, const std::vector<Row>& rows,
                                      std::size_t column) {
  const auto builder = arrow::MakeBuilder(types::ToArrowType(type)).ValueOrDie();
  for (const Row& row : rows) {
    EXPECT_TRUE(std::visit(Append{*builder}, row[column]).ok());
  }
  return builder->Finish().ValueOrDie();
}

/// The keys of `rows` by way of an Arrow batch.
EncodedKeys BatchKeys(const std::vector<KeyColumn>& columns,
                      const std::vector<Row>& rows) {
  types::Schema schema;
  SortOrder order;
  arrow::ArrayVector arrays;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto id = static_cast<FieldId>(i + 1);
    schema.fields.push_back(
        {.id = id, .name = fmt::format("c{}", id), .type = columns[i].type});
    order.fields.push_back({.source_id = id,
                            .direction = columns[i].direction,
                            .null_order = columns[i].null_order});
    arrays.push_back(ArrayOf(columns[i].type, rows, i));
  }
  const auto batch =
      arrow::RecordBatch::Make(types::ToArrowSchema(schema),
                               static_cast<std::int64_t>(rows.size()), std::move(arrays));
  return EncodeKeys(order, schema, *batch).ValueOrDie();
}

std::string Describe(const std::vector<KeyColumn>& columns) {
  return KeyEncoder(columns).KeyTypesText();
}

class KeyPropertyTest : public testing::Test {
 protected:
  static constexpr int kTables = 400;
  static constexpr int kRows = 40;

  /// Calls `check(columns, rows)` for many random tables.
  template <typename Check>
  void ForEachTable(Check check) {
    RowGenerator generator(TestSeed());
    for (int table = 0; table < kTables && !HasFailure(); ++table) {
      const std::vector<KeyColumn> columns = generator.Columns();
      std::vector<Row> rows;
      for (int row = 0; row < kRows; ++row) rows.push_back(generator.RowOf(columns));
      SCOPED_TRACE(Describe(columns));
      check(columns, rows);
    }
  }
};

TEST_F(KeyPropertyTest, BytesAreOrderedAsRowsAre) {
  ForEachTable([](const std::vector<KeyColumn>& columns, const std::vector<Row>& rows) {
    const EncodedKeys keys = BatchKeys(columns, rows);
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kRows; ++j) {
        ASSERT_EQ(Sign(keys[i].compare(keys[j])), CompareRows(columns, rows[i], rows[j]));
        ASSERT_EQ(keys[i].starts_with(keys[j]), keys[i] == keys[j]);
      }
    }
  });
}

TEST_F(KeyPropertyTest, OneRowAndBatchesGiveTheSameKeys) {
  ForEachTable([](const std::vector<KeyColumn>& columns, const std::vector<Row>& rows) {
    const EncodedKeys keys = BatchKeys(columns, rows);
    const KeyEncoder encoder(columns);
    for (std::int64_t row = 0; row < kRows; ++row) {
      std::string key = "before";
      encoder.Encode(rows[row], key);
      ASSERT_EQ(key, "before" + std::string(keys[row]));
    }
  });
}

TEST_F(KeyPropertyTest, DecodeGivesTheValuesBack) {
  ForEachTable([](const std::vector<KeyColumn>& columns, const std::vector<Row>& rows) {
    const EncodedKeys keys = BatchKeys(columns, rows);
    for (std::int64_t row = 0; row < kRows; ++row) {
      const Row decoded = KeyEncoder(columns).Decode(keys[row]).ValueOrDie();
      ASSERT_EQ(decoded.size(), columns.size());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        ASSERT_TRUE(AreSame(decoded[i], rows[row][i]));
      }
    }
  });
}

TEST_F(KeyPropertyTest, TruncatedKeysAreBoundsAndStillReadable) {
  ForEachTable([](const std::vector<KeyColumn>& columns, const std::vector<Row>& rows) {
    const EncodedKeys keys = BatchKeys(columns, rows);
    for (std::int64_t row = 0; row < kRows; ++row) {
      const std::string down = TruncateKeyDown(keys[row]);
      const auto up = TruncateKeyUp(keys[row]);
      ASSERT_LE(down, keys[row]);
      ASSERT_LE(down.size(), kKeyBytesMax);
      ASSERT_TRUE(KeyEncoder(columns).Decode(down).ok());
      if (!up) continue;
      ASSERT_GE(*up, keys[row]);
      ASSERT_LE(up->size(), kKeyBytesMax);
      ASSERT_TRUE(KeyEncoder(columns).Decode(*up).ok());
    }
  });
}

TEST_F(KeyPropertyTest, EveryPrefixIsReadable) {
  ForEachTable([](const std::vector<KeyColumn>& columns, const std::vector<Row>& rows) {
    const KeyEncoder encoder(columns);
    std::string key;
    encoder.Encode(rows[0], key);
    for (std::size_t size = 0; size <= key.size(); ++size) {
      ASSERT_TRUE(encoder.Decode(std::string_view(key).substr(0, size)).ok());
    }
  });
}

}  // namespace
}  // namespace firn::order
