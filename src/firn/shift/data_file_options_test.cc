#include "firn/shift/data_file_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::shift {
namespace {

using parquet_io::BloomFilter;
using testing::HasSubstr;
using types::Type;
using types::TypeKind;
using Properties = std::map<std::string, std::string>;
using BloomFilters = std::map<FieldId, BloomFilter>;

const std::string kEnabled = "write.parquet.bloom-filter-enabled.column.";
const std::string kProbability = "write.parquet.bloom-filter-fpp.column.";
const std::string kBytesMax = "write.parquet.bloom-filter-max-bytes";

/// Columns "id", "flag" (boolean) and "place.city".
Result<parquet_io::FileWriterOptions> Options(Properties properties,
                                              const order::SortOrder& order = {}) {
  iceberg::TableMetadata metadata;
  const Type place =
      Type::Struct({{.id = 4, .name = "city", .type = Type(TypeKind::kString)}});
  metadata.schemas = {{.id = SchemaId(0),
                       .fields = {{.id = 1, .name = "id", .type = Type(TypeKind::kLong)},
                                  {.id = 2, .name = "flag"},
                                  {.id = 3, .name = "place", .type = place}}}};
  metadata.current_schema_id = SchemaId(0);
  metadata.properties = std::move(properties);
  return DataFileOptions(metadata, order);
}

BloomFilters FiltersOf(Properties properties) {
  return Options(std::move(properties)).ValueOrDie().bloom_filters;
}

TEST(BloomFilterPropertiesTest, AColumnHasOneIfItsPropertyIsTrue) {
  EXPECT_EQ(FiltersOf({}), BloomFilters());
  EXPECT_EQ(FiltersOf({{kEnabled + "id", "true"}}), (BloomFilters{{1, {}}}));
  EXPECT_EQ(FiltersOf({{kEnabled + "id", "TRUE"}}), (BloomFilters{{1, {}}}));
  EXPECT_EQ(FiltersOf({{kEnabled + "id", "false"}}), BloomFilters());
  EXPECT_EQ(FiltersOf({{kEnabled + "id", "1"}}), BloomFilters());
  EXPECT_EQ(FiltersOf({{kEnabled + "place.city", "true"}}), (BloomFilters{{4, {}}}));
}

TEST(BloomFilterPropertiesTest, DroppedBooleanAndNestedColumnsHaveNone) {
  for (const char* column : {"gone", "flag", "place"}) {
    EXPECT_EQ(FiltersOf({{kEnabled + column, "true"}}), BloomFilters()) << column;
  }
}

TEST(BloomFilterPropertiesTest, SizeIsTheTablesProbabilityTheColumns) {
  const Properties properties = {{kEnabled + "id", "true"},
                                 {kEnabled + "place.city", "true"},
                                 {kProbability + "id", "0.2"},
                                 {kBytesMax, "4096"}};
  EXPECT_EQ(FiltersOf(properties),
            (BloomFilters{{1, {.false_positives = 0.2, .bytes_max = 4096}},
                          {4, {.bytes_max = 4096}}}));
}

TEST(BloomFilterPropertiesTest, MoreThanTheFormatAllowsIsTheMostItAllows) {
  const auto filters = FiltersOf({{kEnabled + "id", "true"}, {kBytesMax, "1000000000"}});
  EXPECT_EQ(filters.at(1).bytes_max, BloomFilter::kBytesMost);
}

TEST(BloomFilterPropertiesTest, WhatCannotBeReadNamesTheProperty) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {kBytesMax, "31"},           {kBytesMax, "1MiB"},
      {kProbability + "id", "0"},  {kProbability + "id", "1"},
      {kProbability + "id", "1%"}, {kProbability + "id", "nan"}};
  for (const auto& [name, text] : cases) {
    const Status status = Options({{kEnabled + "id", "true"}, {name, text}}).status();
    EXPECT_TRUE(status.IsInvalid()) << name << " " << text;
    EXPECT_THAT(status.message(), HasSubstr(name));
    EXPECT_THAT(status.message(), HasSubstr(text));
  }
}

TEST(PagePropertiesTest, PagesAreNotCutBelowFourKibibytes) {
  const std::string bytes = "write.parquet.page-size-bytes";
  EXPECT_EQ(Options({{bytes, "1"}})->page_bytes, 4096);
  EXPECT_EQ(Options({{bytes, "4097"}})->page_bytes, 4097);
  EXPECT_TRUE(Options({{bytes, "0"}}).status().IsInvalid());
}

using parquet_io::MetricsConfig;
using parquet_io::MetricsMode;
using Kind = MetricsMode::Kind;

const std::string kMetricsDefault = "write.metadata.metrics.default";
const std::string kMetricsColumn = "write.metadata.metrics.column.";
const std::string kInferredMax = "write.metadata.metrics.max-inferred-column-defaults";

MetricsConfig MetricsOf(Properties properties) {
  return Options(std::move(properties)).ValueOrDie().metrics;
}

/// Of a table that is sorted by "id" and a bucket of "place.city".
MetricsConfig MetricsOfSorted(Properties properties) {
  const order::SortOrder order = {
      .fields = {{.source_id = 1},
                 {.source_id = 4,
                  .transform = {.kind = types::TransformKind::kBucket, .parameter = 4}}}};
  return Options(std::move(properties), order).ValueOrDie().metrics;
}

TEST(MetricsPropertiesTest, EveryColumnHasSixteenCharactersOfBoundsUnlessTheTableSaysSo) {
  EXPECT_EQ(MetricsOf({}), (MetricsConfig{{.kind = Kind::kTruncate, .width = 16}, {}}));
  EXPECT_EQ(MetricsOf({{kMetricsDefault, "counts"},
                       {kMetricsColumn + "place.city", "truncate(2)"},
                       {kMetricsColumn + "dropped", "full"}}),
            (MetricsConfig{{.kind = Kind::kCounts},
                           {{4, {.kind = Kind::kTruncate, .width = 2}}}}));
}

TEST(MetricsPropertiesTest, OnlySoManyColumnsHaveMetricsThatNobodyAskedFor) {
  EXPECT_EQ(MetricsOf({{kInferredMax, "3"}}), MetricsConfig());
  EXPECT_EQ(MetricsOf({{kInferredMax, "2"}}),
            (MetricsConfig{{.kind = Kind::kNone}, {{1, {}}, {2, {}}}}))
      << "what is nested comes last";
  EXPECT_EQ(MetricsOf({{kInferredMax, "0"}, {kMetricsColumn + "flag", "full"}}),
            (MetricsConfig{{.kind = Kind::kNone}, {{2, {.kind = Kind::kFull}}}}));
  EXPECT_EQ(MetricsOf({{kInferredMax, "2"}, {kMetricsDefault, "full"}}),
            (MetricsConfig{{.kind = Kind::kFull}, {}}));
}

TEST(MetricsPropertiesTest, WhatATableIsSortedByHasBounds) {
  EXPECT_EQ(MetricsOfSorted({}), MetricsConfig());
  for (const char* mode : {"none", "counts"}) {
    EXPECT_EQ(MetricsOfSorted({{kMetricsDefault, mode}}).columns,
              (std::map<FieldId, MetricsMode>{{1, {}}}));
  }
  EXPECT_EQ(MetricsOfSorted({{kInferredMax, "0"}}).columns,
            (std::map<FieldId, MetricsMode>{{1, {}}}));
  const Properties of_its_own = {{kMetricsDefault, "none"},
                                 {kMetricsColumn + "id", "counts"}};
  EXPECT_EQ(MetricsOfSorted(of_its_own).columns,
            (std::map<FieldId, MetricsMode>{{1, {.kind = Kind::kCounts}}}));
}

TEST(MetricsPropertiesTest, WhatCannotBeReadNamesTheProperty) {
  for (const std::string& property :
       {kMetricsDefault, kMetricsColumn + "id", kInferredMax}) {
    for (const char* text : {"", "Full", "truncate(0)", "truncate(2", "-1"}) {
      EXPECT_THAT(Options({{property, text}}).status().message(), HasSubstr(property))
          << text;
    }
  }
}

}  // namespace
}  // namespace firn::shift
