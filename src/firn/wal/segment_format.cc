#include "firn/wal/segment_format.h"

#include <bit>
#include <charconv>
#include <optional>
#include <set>
#include <type_traits>

#include "firn/core/base64.h"
#include "firn/order/key_bound.h"
#include "firn/wal/byte_codec.h"

namespace firn::wal {
namespace {

constexpr char kVersionKey[] = "firn.format-version";
constexpr char kTableUuidKey[] = "firn.table-uuid";
constexpr char kSchemaIdKey[] = "firn.schema-id";
constexpr char kSpecIdKey[] = "firn.partition-spec-id";
constexpr char kOrderIdKey[] = "firn.sort-order-id";
constexpr char kKeyTypesKey[] = "firn.key-types";
constexpr char kRangesKey[] = "firn.source-ranges";
constexpr std::string_view kRowGroupPrefix = "firn.rg.";

enum MetricsFlag : std::uint8_t { kHasNanCount = 1, kHasLower = 2, kHasUpper = 4 };

// ---- Encoding

void EncodeValue(const types::Value& value, ByteWriter& out) {
  out.Byte(static_cast<std::uint8_t>(value.index()));
  std::visit(
      [&](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, bool>) {
          out.Byte(v ? 1 : 0);
        } else if constexpr (std::is_integral_v<V>) {
          out.Signed(v);
        } else if constexpr (std::is_same_v<V, float>) {
          out.Varint(std::bit_cast<std::uint32_t>(v));
        } else if constexpr (std::is_same_v<V, double>) {
          out.Fixed64(std::bit_cast<std::uint64_t>(v));
        } else if constexpr (std::is_same_v<V, types::DecimalValue>) {
          out.Fixed64(static_cast<std::uint64_t>(v.unscaled));
          out.Fixed64(static_cast<std::uint64_t>(v.unscaled >> 64));
        } else if constexpr (std::is_same_v<V, std::string>) {
          out.String(v);
        }
      },
      value);
}

void EncodeMetrics(const parquet_io::FileMetrics& metrics, ByteWriter& out) {
  out.Varint(metrics.size());
  for (const auto& [field_id, column] : metrics) {
    out.Count(field_id);
    out.Count(column.value_count);
    out.Count(column.null_count);
    out.Byte((column.nan_count ? kHasNanCount : 0) |
             (column.lower_bound ? kHasLower : 0) | (column.upper_bound ? kHasUpper : 0));
    if (column.nan_count) out.Count(*column.nan_count);
    if (column.lower_bound) out.String(*column.lower_bound);
    if (column.upper_bound) out.String(*column.upper_bound);
  }
}

void EncodeRun(const SegmentRun& run, ByteWriter& out) {
  out.Count(run.first_row);
  out.Count(run.rows);
  out.Count(run.bytes);
  out.Varint(run.partition.size());
  for (const types::Value& value : run.partition) EncodeValue(value, out);
  out.String(run.first_key);
  out.Byte(run.last_key ? 1 : 0);
  if (run.last_key) out.String(*run.last_key);
  out.Varint(run.samples.size());
  for (const KeySample& sample : run.samples) {
    out.String(sample.key);
    out.Fixed64(std::bit_cast<std::uint64_t>(sample.fraction));
  }
  EncodeMetrics(run.metrics, out);
}

std::string EncodeRuns(const std::vector<SegmentRun>& runs) {
  ByteWriter out;
  out.Varint(runs.size());
  for (const SegmentRun& run : runs) EncodeRun(run, out);
  return EncodeBase64(out.bytes());
}

std::string EncodeRanges(const std::vector<SourceRange>& ranges) {
  ByteWriter out;
  out.Varint(ranges.size());
  for (const SourceRange& range : ranges) {
    out.String(range.source);
    out.Signed(range.first);
    out.Signed(range.next);
  }
  return EncodeBase64(out.bytes());
}

// ---- Decoding

bool DecodeFlag(ByteReader& in) {
  const std::uint8_t flag = in.Byte();
  if (flag > 1) in.Fail("a flag is neither 0 nor 1");
  return flag == 1;
}

template <typename Integer>
Integer DecodeInteger(ByteReader& in) {
  const std::int64_t value = in.Signed();
  if (value != static_cast<Integer>(value)) in.Fail("an int is out of range");
  return static_cast<Integer>(value);
}

float DecodeFloat(ByteReader& in) {
  const std::uint64_t bits = in.Varint();
  if (bits >> 32 != 0) in.Fail("a float has more than 32 bits");
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

types::DecimalValue DecodeDecimal(ByteReader& in) {
  const std::uint64_t low = in.Fixed64();
  const std::uint64_t high = in.Fixed64();
  return {static_cast<__int128>(static_cast<unsigned __int128>(high) << 64 | low)};
}

types::Value DecodeValue(ByteReader& in) {
  switch (in.Byte()) {
    case 0:
      return std::monostate();
    case 1:
      return DecodeFlag(in);
    case 2:
      return DecodeInteger<std::int32_t>(in);
    case 3:
      return DecodeInteger<std::int64_t>(in);
    case 4:
      return DecodeFloat(in);
    case 5:
      return std::bit_cast<double>(in.Fixed64());
    case 6:
      return DecodeDecimal(in);
    case 7:
      return in.String();
    default:
      in.Fail("a partition value is of an unknown kind");
      return std::monostate();
  }
}

std::string DecodeKey(ByteReader& in) {
  std::string key = in.String();
  if (key.size() > order::kKeyBytesMax) in.Fail("a key is too long");
  return key;
}

FieldId DecodeFieldId(ByteReader& in) {
  const std::int64_t id = in.Count();
  if (id > std::numeric_limits<FieldId>::max()) in.Fail("a field id is out of range");
  return static_cast<FieldId>(id);
}

parquet_io::ColumnMetrics DecodeColumnMetrics(ByteReader& in) {
  parquet_io::ColumnMetrics column;
  column.value_count = in.Count();
  column.null_count = in.Count();
  const std::uint8_t flags = in.Byte();
  if (flags > (kHasNanCount | kHasLower | kHasUpper)) in.Fail("unknown metrics flags");
  if ((flags & kHasNanCount) != 0) column.nan_count = in.Count();
  if ((flags & kHasLower) != 0) column.lower_bound = in.String();
  if ((flags & kHasUpper) != 0) column.upper_bound = in.String();
  if (column.null_count > column.value_count ||
      column.nan_count.value_or(0) > column.value_count - column.null_count) {
    in.Fail("a column has more nulls and NaNs than values");
  }
  return column;
}

parquet_io::FileMetrics DecodeMetrics(ByteReader& in) {
  parquet_io::FileMetrics metrics;
  const std::size_t columns = in.Length();
  for (std::size_t i = 0; i < columns && !in.failed(); ++i) {
    const FieldId id = DecodeFieldId(in);
    if (!metrics.empty() && id <= metrics.rbegin()->first) {
      in.Fail("the columns' metrics are not in order of their field ids");
    }
    metrics.emplace(id, DecodeColumnMetrics(in));
  }
  return metrics;
}

void DecodeSamples(ByteReader& in, SegmentRun& run) {
  const std::size_t samples = in.Length();
  if (samples > kKeySamplesMax) in.Fail("a run has too many samples");
  for (std::size_t i = 0; i < samples && !in.failed(); ++i) {
    KeySample sample;
    sample.key = DecodeKey(in);
    sample.fraction = std::bit_cast<double>(in.Fixed64());
    const bool sorted = i == 0 ? run.first_key <= sample.key
                               : run.samples.back().key < sample.key &&
                                     run.samples.back().fraction <= sample.fraction;
    if (!sorted || (run.last_key && *run.last_key < sample.key)) {
      in.Fail("the samples of a run are not sorted");
    }
    if (!(sample.fraction >= 0 && sample.fraction <= 1)) {
      in.Fail("the fraction of a sample is not between 0 and 1");
    }
    run.samples.push_back(std::move(sample));
  }
}

SegmentRun DecodeRun(ByteReader& in) {
  SegmentRun run;
  run.first_row = in.Count();
  run.rows = in.Count();
  run.bytes = in.Count();
  const std::size_t values = in.Length();
  for (std::size_t i = 0; i < values && !in.failed(); ++i) {
    run.partition.push_back(DecodeValue(in));
  }
  run.first_key = DecodeKey(in);
  if (DecodeFlag(in)) run.last_key = DecodeKey(in);
  if (run.last_key && *run.last_key < run.first_key) {
    in.Fail("the last key of a run is below its first");
  }
  DecodeSamples(in, run);
  run.metrics = DecodeMetrics(in);
  return run;
}

/// Runs stand one behind the other, and are the row group.
void CheckRuns(const std::vector<SegmentRun>& runs, const RowGroupFooter& size,
               ByteReader& in) {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  for (const SegmentRun& run : runs) {
    if (run.rows == 0) in.Fail("a run has no rows");
    if (run.first_row != rows) in.Fail("a run does not start where the last one ends");
    if (run.rows > size.rows - rows)
      in.Fail("its runs have more rows than the row group");
    if (run.bytes > size.bytes - bytes) {
      in.Fail("its runs have more bytes than the row group");
    }
    if (in.failed()) return;
    rows += run.rows;
    bytes += run.bytes;
  }
  if (rows != size.rows) {
    in.Fail(fmt::format("its runs have {} rows, the row group {}", rows, size.rows));
  }
  if (bytes != size.bytes) {
    in.Fail(fmt::format("its runs have {} bytes, the row group {}", bytes, size.bytes));
  }
}

void CheckMetrics(const std::vector<SegmentRun>& runs, ByteReader& in) {
  for (const SegmentRun& run : runs) {
    if (runs.size() > 1 && !run.metrics.empty()) {
      in.Fail("a run that shares its row group has metrics");
    }
  }
}

std::vector<SegmentRun> DecodeRuns(const RowGroupFooter& size, ByteReader& in) {
  std::vector<SegmentRun> runs;
  const std::size_t count = in.Length();
  for (std::size_t i = 0; i < count && !in.failed(); ++i) runs.push_back(DecodeRun(in));
  if (!in.at_end()) in.Fail("there are bytes behind its end");
  if (!in.failed()) CheckRuns(runs, size, in);
  if (!in.failed()) CheckMetrics(runs, in);
  return runs;
}

std::vector<SourceRange> DecodeRanges(ByteReader& in) {
  std::vector<SourceRange> ranges;
  std::set<std::string> sources;
  const std::size_t count = in.Length();
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    SourceRange range;
    range.source = in.String();
    range.first = in.Signed();
    range.next = in.Signed();
    if (range.next < range.first) in.Fail("a range ends before it starts");
    if (!sources.insert(range.source).second) in.Fail("a source stands there twice");
    ranges.push_back(std::move(range));
  }
  if (!in.at_end()) in.Fail("there are bytes behind its end");
  return ranges;
}

/// One footer that is being decoded: the key-values, and how to complain about them.
class FooterDecoder {
 public:
  FooterDecoder(std::string_view segment,
                const std::map<std::string, std::string>& key_values)
      : segment_(segment), key_values_(key_values) {}

  Status CheckVersion() const {
    FIRN_ASSIGN_OR_RETURN(const std::int32_t version, Int(kVersionKey));
    if (version > kSegmentFormatVersion) {
      return InvalidError(
          "segment {} was written by a newer Firn: upgrade this one (format version {}, "
          "this build reads up to {})",
          segment_, version, kSegmentFormatVersion);
    }
    if (version < 1) return Corrupt(kVersionKey, fmt::format("there is no {}", version));
    return Status::OK();
  }

  Result<std::string> Text(const std::string& key) const {
    const auto found = key_values_.find(key);
    if (found == key_values_.end()) return Corrupt(key, "it is missing");
    return found->second;
  }

  Result<std::int32_t> Int(const std::string& key) const {
    FIRN_ASSIGN_OR_RETURN(const std::string text, Text(key));
    std::int32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    // One number has one text.
    if (fmt::to_string(value) != text) return Corrupt(key, "it is not a number");
    return value;
  }

  Result<std::vector<SourceRange>> Ranges() const {
    FIRN_ASSIGN_OR_RETURN(const std::string text, Text(kRangesKey));
    FIRN_ASSIGN_OR_RETURN(const std::string bytes, Bytes(kRangesKey, text));
    ByteReader in(bytes);
    std::vector<SourceRange> ranges = DecodeRanges(in);
    if (in.failed()) return Corrupt(kRangesKey, in.problem());
    return ranges;
  }

  Result<std::vector<SegmentRun>> Runs(std::size_t row_group,
                                       const RowGroupFooter& size) const {
    const std::string key = fmt::format("{}{}", kRowGroupPrefix, row_group);
    if (!size.runs_payload) return Corrupt(key, "it is missing");
    FIRN_ASSIGN_OR_RETURN(const std::string bytes, Bytes(key, *size.runs_payload));
    ByteReader in(bytes);
    std::vector<SegmentRun> runs = DecodeRuns(size, in);
    if (!in.failed()) return runs;
    return Error(ErrorKind::kCorruption, "segment {} row group {}: {}", segment_,
                 row_group, in.problem());
  }

  Status CheckRowGroupCount(std::size_t row_groups) const {
    std::size_t described = 0;
    for (const auto& [key, value] : key_values_) {
      if (key.starts_with(kRowGroupPrefix)) ++described;
    }
    if (described == row_groups) return Status::OK();
    return Error(ErrorKind::kCorruption,
                 "segment {}: it describes {} row groups, but has {}", segment_,
                 described, row_groups);
  }

 private:
  Result<std::string> Bytes(const std::string& key, const std::string& text) const {
    Result<std::string> bytes = DecodeBase64(text);
    if (!bytes.ok()) return Corrupt(key, bytes.status().message());
    return bytes;
  }

  Status Corrupt(std::string_view key, std::string_view problem) const {
    return Error(ErrorKind::kCorruption, "segment {}: {}: {}", segment_, key, problem);
  }

  const std::string_view segment_;
  const std::map<std::string, std::string>& key_values_;
};

Status CheckTupleSizes(std::string_view segment, const SegmentFooter& footer) {
  std::optional<std::size_t> size;
  for (std::size_t i = 0; i < footer.row_groups.size(); ++i) {
    for (const SegmentRun& run : footer.row_groups[i]) {
      if (!size) size = run.partition.size();
      if (run.partition.size() == *size) continue;
      return Error(ErrorKind::kCorruption,
                   "segment {} row group {}: a run has {} partition values, others {}",
                   segment, i, run.partition.size(), *size);
    }
  }
  return Status::OK();
}

}  // namespace

std::string EncodeSourceRanges(const std::vector<SourceRange>& ranges) {
  return EncodeRanges(ranges);
}

std::optional<std::vector<SourceRange>> DecodeSourceRanges(std::string_view text) {
  const Result<std::string> bytes = DecodeBase64(text);
  if (!bytes.ok()) return std::nullopt;
  ByteReader in(*bytes);
  std::vector<SourceRange> ranges = DecodeRanges(in);
  if (in.failed()) return std::nullopt;
  return ranges;
}

KeyValues EncodeSegmentFooter(const SegmentFooter& footer) {
  KeyValues key_values = {
      {kVersionKey, fmt::to_string(kSegmentFormatVersion)},
      {kTableUuidKey, footer.table_uuid.value()},
      {kSchemaIdKey, fmt::to_string(footer.schema_id)},
      {kSpecIdKey, fmt::to_string(footer.spec_id)},
      {kOrderIdKey, fmt::to_string(footer.order_id)},
      {kKeyTypesKey, footer.key_types},
      {kRangesKey, EncodeRanges(footer.ranges)},
  };
  for (std::size_t i = 0; i < footer.row_groups.size(); ++i) {
    key_values.emplace_back(fmt::format("{}{}", kRowGroupPrefix, i),
                            EncodeRuns(footer.row_groups[i]));
  }
  return key_values;
}

Result<SegmentFooter> DecodeSegmentFooter(
    std::string_view segment, const std::vector<RowGroupFooter>& row_groups,
    const std::map<std::string, std::string>& key_values) {
  const FooterDecoder decoder(segment, key_values);
  FIRN_RETURN_NOT_OK(decoder.CheckVersion());
  SegmentFooter footer;
  FIRN_ASSIGN_OR_RETURN(std::string uuid, decoder.Text(kTableUuidKey));
  footer.table_uuid = TableUuid(std::move(uuid));
  FIRN_ASSIGN_OR_RETURN(const std::int32_t schema_id, decoder.Int(kSchemaIdKey));
  footer.schema_id = SchemaId(schema_id);
  FIRN_ASSIGN_OR_RETURN(const std::int32_t spec_id, decoder.Int(kSpecIdKey));
  footer.spec_id = PartitionSpecId(spec_id);
  FIRN_ASSIGN_OR_RETURN(const std::int32_t order_id, decoder.Int(kOrderIdKey));
  footer.order_id = SortOrderId(order_id);
  FIRN_ASSIGN_OR_RETURN(footer.key_types, decoder.Text(kKeyTypesKey));
  FIRN_ASSIGN_OR_RETURN(footer.ranges, decoder.Ranges());
  FIRN_RETURN_NOT_OK(decoder.CheckRowGroupCount(row_groups.size()));
  for (std::size_t i = 0; i < row_groups.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(std::vector<SegmentRun> runs, decoder.Runs(i, row_groups[i]));
    footer.row_groups.push_back(std::move(runs));
  }
  FIRN_RETURN_NOT_OK(CheckTupleSizes(segment, footer));
  return footer;
}

}  // namespace firn::wal
