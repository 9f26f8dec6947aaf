#include <gmock/gmock.h>

#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "firn/parquet_io/parquet_fixture.h"
#include "firn/types/arrow_types.h"

namespace firn::parquet_io {
namespace {

using testing::HasSubstr;
using types::Type;
using types::TypeKind;

constexpr FieldId kText = 1;
constexpr FieldId kNumber = 2;
constexpr FieldId kPlain = 3;
constexpr FieldId kElement = 5;
constexpr std::int64_t kRows = 5000;

/// The filter of a column in a row group, as Parquet's own reader sees it.
std::unique_ptr<parquet::BloomFilter> FilterOf(const RowGroupSource& source, int column) {
  const auto reader = parquet::ParquetFileReader::Open(source.file);
  const auto row_group = reader->GetBloomFilterReader().RowGroup(source.row_group);
  return row_group == nullptr ? nullptr : row_group->GetColumnBloomFilter(column);
}

class BloomFilterTest : public ParquetFixture {
 protected:
  /// Number n and text "key n" for n in [first, first + rows).
  Batch Numbered(std::int64_t first, std::int64_t rows) const {
    std::string json = "[";
    for (std::int64_t n = first; n < first + rows; ++n) {
      json += fmt::format(R"({}["key {}", {}, "plain", ["tag {}"]])",
                          n == first ? "" : ", ", n, n, n);
    }
    return Rows(schema_, json + "]");
  }

  FileWriterOptions Filtered(BloomFilter filter = {}) const {
    return {.bloom_filters = {{kText, filter}, {kNumber, filter}, {kElement, filter}}};
  }

  /// How many of the texts "key n" the filter may hold.
  std::int64_t Found(const parquet::BloomFilter& filter, std::int64_t first,
                     std::int64_t rows) const {
    std::int64_t found = 0;
    for (std::int64_t n = first; n < first + rows; ++n) {
      const std::string text = fmt::format("key {}", n);
      const parquet::ByteArray value(text);
      found += filter.FindHash(filter.Hash(&value)) ? 1 : 0;
    }
    return found;
  }

  void ExpectRefused(const std::map<FieldId, BloomFilter>& filters,
                     const std::string& why) const {
    const auto writer = FileWriter::Make(schema_, {.bloom_filters = filters});
    EXPECT_TRUE(writer.status().IsInvalid());
    EXPECT_THAT(writer.status().message(), HasSubstr(why));
  }

  const types::Schema schema_ = SchemaOf(
      {Optional(kText, "text", Type(TypeKind::kString)),
       Optional(kNumber, "number", Type(TypeKind::kLong)),
       Optional(kPlain, "plain", Type(TypeKind::kString)),
       Optional(4, "tags",
                Type::List(Optional(kElement, "element", Type(TypeKind::kString))))});
};

TEST_F(BloomFilterTest, EveryValueIsFoundAndFewOthersAre) {
  const WrittenFile file = WriteFile(schema_, {Numbered(0, kRows)}, Filtered());
  const auto filter = FilterOf(Open(file), 0);
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(Found(*filter, 0, kRows), kRows);
  EXPECT_LT(Found(*filter, kRows, kRows), kRows / 20);
  const auto numbers = FilterOf(Open(file), 1);
  for (std::int64_t n = 0; n < kRows; ++n) {
    EXPECT_TRUE(numbers->FindHash(numbers->Hash(n)));
  }
}

TEST_F(BloomFilterTest, OnlyTheColumnsNamedHaveOneAlsoNestedOnes) {
  const RowGroupSource source = Open(WriteFile(schema_, {Numbered(0, 10)}, Filtered()));
  EXPECT_EQ(FilterOf(source, 2), nullptr);
  EXPECT_NE(FilterOf(source, 3), nullptr);
}

TEST_F(BloomFilterTest, EveryRowGroupHasItsOwn) {
  FileWriterOptions options = Filtered();
  options.row_group_bytes = 10'000;
  const WrittenFile file = WriteFile(schema_, {Numbered(0, kRows)}, options);
  ASSERT_GT(file.row_groups.size(), 2U);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < file.row_groups.size(); ++i) {
    const std::int64_t rows = file.row_groups[i].rows;
    const auto filter = FilterOf(Open(file, static_cast<int>(i)), 0);
    EXPECT_EQ(Found(*filter, first, rows), rows);
    first += rows;
  }
}

TEST_F(BloomFilterTest, SizeFollowsTheValuesUpToItsBound) {
  const struct {
    BloomFilter filter;
    std::int64_t rows;
    std::uint32_t bytes_least;
    std::uint32_t bytes_most;
  } cases[] = {
      {{}, 10, 32, 128},
      {{}, kRows, 4096, 16384},
      {{.false_positives = 0.2}, kRows, 1024, 8192},
      {{.bytes_max = 1024}, kRows, 1024, 1024},
      {{.bytes_max = 1500}, kRows, 1024, 1024},
      {{.bytes_max = 32}, kRows, 32, 32},
      {{.bytes_max = BloomFilter::kBytesMost}, 10, 32, 128},
  };
  for (const auto& [filter, rows, least, most] : cases) {
    SCOPED_TRACE(fmt::format("at most {} bytes, {} rows", filter.bytes_max, rows));
    const WrittenFile file = WriteFile(schema_, {Numbered(0, rows)}, Filtered(filter));
    const auto made = FilterOf(Open(file), 0);
    EXPECT_GE(made->GetBitsetSize(), least);
    EXPECT_LE(made->GetBitsetSize(), most);
    EXPECT_EQ(Found(*made, 0, rows), rows);
  }
}

TEST_F(BloomFilterTest, ACopiedRowGroupKeepsIt) {
  const RowGroupSource source =
      Open(WriteFile(schema_, {Numbered(7, kRows)}, Filtered()));
  ASSERT_TRUE(IsVerbatimCopyable(schema_, Filtered(), source));
  const auto writer = FileWriter::Make(schema_, Filtered()).ValueOrDie();
  ASSERT_TRUE(writer->Write(*Numbered(0, 3)).ok());
  ASSERT_TRUE(writer->CopyRowGroup(source, {}).ok());
  const WrittenFile file = writer->Finish({}).ValueOrDie();
  EXPECT_EQ(Found(*FilterOf(Open(file, 0), 0), 0, 3), 3);
  const auto copied = FilterOf(Open(file, 1), 0);
  EXPECT_EQ(Found(*copied, 7, kRows), kRows);
  EXPECT_EQ(copied->GetBitsetSize(), FilterOf(source, 0)->GetBitsetSize());
}

TEST_F(BloomFilterTest, ARowGroupWithoutIsNotCopyableWhereItIsWanted) {
  const RowGroupSource without = Open(WriteFile(schema_, {Numbered(0, 10)}));
  EXPECT_FALSE(IsVerbatimCopyable(schema_, Filtered(), without));
  EXPECT_TRUE(IsVerbatimCopyable(schema_, {}, without));
  const auto writer = FileWriter::Make(schema_, Filtered()).ValueOrDie();
  EXPECT_THAT(writer->CopyRowGroup(without, {}).message(), HasSubstr("Bloom"));
}

TEST_F(BloomFilterTest, ACopyHasNoneWhereItIsNotWanted) {
  const RowGroupSource source = Open(WriteFile(schema_, {Numbered(0, 10)}, Filtered()));
  const auto writer = FileWriter::Make(schema_, {}).ValueOrDie();
  ASSERT_TRUE(writer->CopyRowGroup(source, {}).ok());
  EXPECT_EQ(FilterOf(Open(writer->Finish({}).ValueOrDie()), 0), nullptr);
}

TEST_F(BloomFilterTest, EveryPrimitiveTypeButBooleanCanHaveOne) {
  const types::Schema schema = EveryType();
  const Batch rows = RandomRows(schema, 300, TestSeed());
  FileWriterOptions options;
  for (const types::Field& field : EveryPrimitive()) {
    if (field.type.kind() != TypeKind::kBoolean) options.bloom_filters[field.id] = {};
  }
  const RowGroupSource source = Open(WriteFile(schema, {rows}, options));
  for (std::size_t i = 0; i < EveryPrimitive().size(); ++i) {
    const bool is_boolean = EveryPrimitive()[i].type.kind() == TypeKind::kBoolean;
    EXPECT_EQ(FilterOf(source, static_cast<int>(i)) == nullptr, is_boolean) << i;
  }
}

TEST_F(BloomFilterTest, WhatCannotBeIsRefused) {
  ExpectRefused({{4, {}}}, "column 4");
  ExpectRefused({{99, {}}}, "column 99");
  ExpectRefused({{kText, {.false_positives = 0}}}, "probability 0");
  ExpectRefused({{kText, {.false_positives = 1}}}, "probability 1");
  ExpectRefused({{kText, {.bytes_max = 31}}}, "31 bytes");
  ExpectRefused({{kText, {.bytes_max = 1LL << 30}}}, "bytes");
}

}  // namespace
}  // namespace firn::parquet_io
