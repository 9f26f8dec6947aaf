#include "firn/shift/data_file_options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "firn/core/whole_number.h"
#include "firn/iceberg/metadata/table_properties.h"

namespace firn::shift {
namespace {

using parquet_io::BloomFilter;
using parquet_io::Codec;
using parquet_io::FileWriterOptions;
using parquet_io::MetricsConfig;
using parquet_io::MetricsMode;

/// Arrow's writer begins the pages of lists and maps by what an encoder without values
/// would take, at most 2 KiB: below that it writes pages without values, behind which its
/// own reader finds no rows.
constexpr std::int64_t kPageBytesLeast = 4096;

constexpr std::string_view kMetricsColumnPrefix = "write.metadata.metrics.column.";
constexpr std::string_view kBloomFilterColumnPrefix =
    "write.parquet.bloom-filter-enabled.column.";
constexpr std::string_view kBloomFilterProbabilityPrefix =
    "write.parquet.bloom-filter-fpp.column.";

/// The property as a whole number of at least `least`, else `target` stays.
template <typename T>
Status ReadNumber(const iceberg::TableMetadata& metadata, const std::string& name,
                  std::int64_t least, T& target) {
  const std::string* text = FindTableProperty(metadata, name);
  if (text == nullptr) return Status::OK();
  const auto value = ParseWholeNumber<std::int64_t>(*text);
  if (!value || *value < least) {
    return InvalidError(
        "table property {}: expected a whole number of at least {}, got \"{}\"", name,
        least, *text);
  }
  target = static_cast<T>(*value);
  return Status::OK();
}

Result<Codec> ParseCodec(const std::string& text) {
  if (text == "zstd") return Codec::kZstd;
  if (text == "snappy") return Codec::kSnappy;
  if (text == "gzip") return Codec::kGzip;
  if (text == "lz4") return Codec::kLz4;
  if (text == "uncompressed" || text == "none") return Codec::kUncompressed;
  return InvalidError(
      "table property write.parquet.compression-codec: \"{}\" is not one of zstd, "
      "snappy, "
      "gzip, lz4, uncompressed",
      text);
}

Result<MetricsMode> ParseMetricsMode(const std::string& property,
                                     const std::string& text) {
  using Kind = MetricsMode::Kind;
  if (text == "none") return MetricsMode{.kind = Kind::kNone};
  if (text == "counts") return MetricsMode{.kind = Kind::kCounts};
  if (text == "full") return MetricsMode{.kind = Kind::kFull};
  std::string_view width = text;
  if (width.starts_with("truncate(") && width.ends_with(')')) {
    width.remove_prefix(9);
    width.remove_suffix(1);
    const auto value = ParseWholeNumber<std::int64_t>(width);
    if (value && *value > 0 && *value <= INT32_MAX) {
      return MetricsMode{.kind = Kind::kTruncate,
                         .width = static_cast<std::int32_t>(*value)};
    }
  }
  return InvalidError(
      "table property {}: \"{}\" is not none, counts, full or truncate(n)", property,
      text);
}

bool HasBloomFilters(const types::Type& type) {
  return type.is_primitive() && type.kind() != types::TypeKind::kBoolean;
}

/// The primitive columns, those of a struct before those within its fields.
void AddPrimitives(const std::vector<types::Field>& fields, std::vector<FieldId>& ids) {
  for (const types::Field& field : fields) {
    if (field.type.is_primitive()) ids.push_back(field.id);
  }
  for (const types::Field& field : fields) AddPrimitives(field.type.fields(), ids);
}

/// Where the table names no default, the columns beyond the first hundred have none: a
/// wide table's manifests would hold little else.
Status LimitInferredModes(const iceberg::TableMetadata& metadata, MetricsConfig& config) {
  std::size_t max = 100;
  FIRN_RETURN_NOT_OK(ReadNumber(
      metadata, "write.metadata.metrics.max-inferred-column-defaults", 0, max));
  std::vector<FieldId> ids;
  AddPrimitives(CurrentSchema(metadata).fields, ids);
  if (ids.size() <= max) return Status::OK();
  for (std::size_t i = 0; i < max; ++i) config.columns[ids[i]] = config.default_mode;
  config.default_mode = {.kind = MetricsMode::Kind::kNone};
  return Status::OK();
}

/// Bounds of what a table is sorted by are what readers skip files with.
void WantBoundsOfSortedColumns(const order::SortOrder& order, MetricsConfig& config) {
  using Kind = MetricsMode::Kind;
  const Kind common = config.default_mode.kind;
  if (common != Kind::kNone && common != Kind::kCounts) return;
  for (const order::SortField& field : order.fields) {
    const bool keeps_order = field.transform.kind != types::TransformKind::kBucket &&
                             field.transform.kind != types::TransformKind::kVoid;
    if (keeps_order) config.columns[field.source_id] = MetricsMode();
  }
}

/// As Iceberg's Java library reads the properties, except that a mode which means nothing
/// is refused.
Result<MetricsConfig> ReadMetricsConfig(const iceberg::TableMetadata& metadata,
                                        const order::SortOrder& order) {
  MetricsConfig config;
  const std::string default_name = "write.metadata.metrics.default";
  if (const std::string* text = FindTableProperty(metadata, default_name)) {
    FIRN_ASSIGN_OR_RETURN(config.default_mode, ParseMetricsMode(default_name, *text));
  } else {
    FIRN_RETURN_NOT_OK(LimitInferredModes(metadata, config));
  }
  WantBoundsOfSortedColumns(order, config);
  for (const auto& [name, text] : metadata.properties) {
    if (!name.starts_with(kMetricsColumnPrefix)) continue;
    const types::Field* field =
        FindField(CurrentSchema(metadata),
                  std::string_view(name).substr(kMetricsColumnPrefix.size()));
    // A column that was dropped leaves its property behind.
    if (field == nullptr) continue;
    FIRN_ASSIGN_OR_RETURN(config.columns[field->id], ParseMetricsMode(name, text));
  }
  return config;
}

/// The property as a probability between 0 and 1, else `target` stays.
Status ReadProbability(const iceberg::TableMetadata& metadata, const std::string& name,
                       double& target) {
  const std::string* text = FindTableProperty(metadata, name);
  if (text == nullptr) return Status::OK();
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || rest != end || !(value > 0 && value < 1)) {
    return InvalidError(
        "table property {}: expected a probability between 0 and 1, got \"{}\"", name,
        *text);
  }
  target = value;
  return Status::OK();
}

Result<std::map<FieldId, BloomFilter>> ReadBloomFilters(
    const iceberg::TableMetadata& metadata) {
  BloomFilter common;
  FIRN_RETURN_NOT_OK(ReadNumber(metadata, "write.parquet.bloom-filter-max-bytes",
                                BloomFilter::kBytesLeast, common.bytes_max));
  // More than Parquet's filters can have is no wish for an error.
  common.bytes_max = std::min(common.bytes_max, BloomFilter::kBytesMost);
  std::map<FieldId, BloomFilter> filters;
  for (const auto& [name, text] : metadata.properties) {
    if (!name.starts_with(kBloomFilterColumnPrefix) || !iceberg::IsTrue(text)) continue;
    const std::string column = name.substr(kBloomFilterColumnPrefix.size());
    const types::Field* field = FindField(CurrentSchema(metadata), column);
    // A column that was dropped leaves its property behind; the format has no filters of
    // booleans and of what is nested.
    if (field == nullptr || !HasBloomFilters(field->type)) continue;
    BloomFilter& filter = filters[field->id] = common;
    FIRN_RETURN_NOT_OK(
        ReadProbability(metadata, std::string(kBloomFilterProbabilityPrefix) + column,
                        filter.false_positives));
  }
  return filters;
}

/// The order's leading columns that Parquet can express: those of the file, without a
/// transform.
std::vector<parquet_io::SortingColumn> SortingColumns(const order::SortOrder& order,
                                                      const types::Schema& schema) {
  std::vector<parquet_io::SortingColumn> columns;
  for (const order::SortField& field : order.fields) {
    const bool is_in_file = FindField(schema, field.source_id) != nullptr;
    if (!is_in_file || field.transform.kind != types::TransformKind::kIdentity) break;
    columns.push_back({
        .field_id = field.source_id,
        .descending = field.direction == order::Direction::kDescending,
        .nulls_first = field.null_order == order::NullOrder::kNullsFirst,
    });
  }
  return columns;
}

}  // namespace

Result<FileWriterOptions> DataFileOptions(const iceberg::TableMetadata& metadata,
                                          const order::SortOrder& order) {
  FileWriterOptions options;
  if (const std::string* codec =
          FindTableProperty(metadata, "write.parquet.compression-codec")) {
    FIRN_ASSIGN_OR_RETURN(options.codec, ParseCodec(*codec));
  }
  FIRN_RETURN_NOT_OK(ReadNumber(metadata, "write.parquet.compression-level", INT32_MIN,
                                options.compression_level));
  FIRN_RETURN_NOT_OK(ReadNumber(metadata, "write.parquet.row-group-size-bytes", 1,
                                options.row_group_bytes));
  FIRN_RETURN_NOT_OK(
      ReadNumber(metadata, "write.parquet.page-size-bytes", 1, options.page_bytes));
  options.page_bytes = std::max(options.page_bytes, kPageBytesLeast);
  FIRN_RETURN_NOT_OK(
      ReadNumber(metadata, "write.parquet.dict-size-bytes", 1, options.dictionary_bytes));
  FIRN_ASSIGN_OR_RETURN(options.metrics, ReadMetricsConfig(metadata, order));
  FIRN_ASSIGN_OR_RETURN(options.bloom_filters, ReadBloomFilters(metadata));
  options.sorting_columns = SortingColumns(order, CurrentSchema(metadata));
  return options;
}

}  // namespace firn::shift
