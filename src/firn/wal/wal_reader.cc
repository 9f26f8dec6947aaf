#include "firn/wal/wal_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/util/key_value_metadata.h>
#include <parquet/exception.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "firn/core/parallel.h"
#include "firn/parquet_io/statistics_bound.h"
#include "firn/wal/quarantine.h"
#include "firn/wal/segment_format.h"

namespace firn::wal {
namespace {

using parquet_io::BoundOf;
using parquet_io::BoundSide;
using parquet_io::Footer;

/// libparquet throws what it finds wrong; that ends here.
template <typename Read>
auto Guarded(std::string_view name, Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::exception& error) {
    return Error(ErrorKind::kCorruption, "{}: the footer is damaged: {}", name,
                 error.what());
  }
}

std::map<std::string, std::string> KeyValuesOf(const Footer& footer) {
  std::map<std::string, std::string> key_values;
  const auto metadata = footer->key_value_metadata();
  if (metadata == nullptr) return key_values;
  for (std::int64_t i = 0; i < metadata->size(); ++i) {
    key_values.emplace(metadata->key(i), metadata->value(i));
  }
  return key_values;
}

/// The leaf column with this field id, if a row has one value of it at most.
std::optional<int> FindColumn(const Footer& footer, FieldId id) {
  const parquet::SchemaDescriptor& schema = *footer->schema();
  for (int i = 0; i < schema.num_columns(); ++i) {
    const parquet::ColumnDescriptor& column = *schema.Column(i);
    if (column.schema_node()->field_id() != id) continue;
    if (column.max_repetition_level() == 0) return i;
  }
  return std::nullopt;
}

bool IsString(const parquet::ColumnDescriptor& column) {
  return column.physical_type() == parquet::Type::BYTE_ARRAY &&
         column.logical_type() != nullptr && column.logical_type()->is_string();
}

ExtractedValue SingletonOf(const parquet::ColumnChunkMetaData& chunk) {
  const auto statistics = chunk.statistics();
  if (statistics == nullptr || !statistics->HasNullCount()) return NotSingleton();
  if (statistics->null_count() == chunk.num_values()) return AllNull();
  if (statistics->null_count() != 0 || !statistics->HasMinMax()) return NotSingleton();
  std::string least = statistics->EncodeMin();
  if (least != statistics->EncodeMax()) return NotSingleton();
  return least;
}

/// The file, as extractions see it.
struct ExtractionInput {
  const Footer& footer;
  std::map<std::string, std::string> key_values;
};

ExtractedValue Extract(const ExtractionInput& input, int row_group,
                       const ColumnSingleton& from) {
  const auto column = FindColumn(input.footer, from.column);
  if (!column) return Missing();
  if (!IsString(*input.footer->schema()->Column(*column))) return NotSingleton();
  return SingletonOf(*input.footer->RowGroup(row_group)->ColumnChunk(*column));
}

ExtractedValue Extract(const ExtractionInput& input, int row_group,
                       const KeyValuePayload& from) {
  std::string key = from.key;
  const std::size_t index = key.find("{}");
  if (index != std::string_view::npos) key.replace(index, 2, fmt::to_string(row_group));
  const auto found = input.key_values.find(key);
  if (found == input.key_values.end()) return Missing();
  return found->second;
}

/// What a run's metrics say of a column, against the column's statistics; both were made
/// from the same values. Text: what contradicts; empty if nothing does.
std::string Contradiction(const parquet::ColumnDescriptor& column,
                          const parquet::ColumnChunkMetaData& chunk,
                          const parquet_io::ColumnMetrics& metrics) {
  if (metrics.value_count != chunk.num_values()) {
    return fmt::format("{} values, the column chunk {}", metrics.value_count,
                       chunk.num_values());
  }
  const auto statistics = chunk.statistics();
  if (statistics == nullptr) return "";
  if (statistics->HasNullCount() && metrics.null_count != statistics->null_count()) {
    return fmt::format("{} nulls, the column statistics {}", metrics.null_count,
                       statistics->null_count());
  }
  if (!statistics->HasMinMax() || column.max_repetition_level() > 0) return "";
  const bool is_equal =
      metrics.lower_bound ==
          BoundOf(column, statistics->EncodeMin(), BoundSide::kLower) &&
      metrics.upper_bound == BoundOf(column, statistics->EncodeMax(), BoundSide::kUpper);
  return is_equal ? "" : "other bounds than the column statistics";
}

/// Corruption, naming row group and column, if the metrics of a run that fills its row
/// group contradict the statistics: they would come into the table as they are.
Status CheckMetrics(std::string_view segment, const Footer& footer,
                    const SegmentFooter& decoded) {
  for (std::size_t i = 0; i < decoded.row_groups.size(); ++i) {
    const std::vector<SegmentRun>& runs = decoded.row_groups[i];
    if (runs.size() != 1 || runs[0].metrics.empty()) continue;
    const auto row_group = footer->RowGroup(static_cast<int>(i));
    for (int c = 0; c < row_group->num_columns(); ++c) {
      const parquet::ColumnDescriptor& column = *footer->schema()->Column(c);
      const auto metrics = runs[0].metrics.find(column.schema_node()->field_id());
      if (metrics == runs[0].metrics.end()) continue;
      const std::string what =
          Contradiction(column, *row_group->ColumnChunk(c), metrics->second);
      if (what.empty()) continue;
      return Error(ErrorKind::kCorruption,
                   "segment {} row group {} column {}: the footer's key-values say {}",
                   segment, i, column.path()->ToDotString(), what);
    }
  }
  return Status::OK();
}

std::vector<RowGroupFooter> RowGroupFooters(const Footer& footer,
                                            const ExtractionInput& input) {
  const KeyValuePayload runs = {.key = std::string(kRunsPayloadKey)};
  std::vector<RowGroupFooter> row_groups;
  for (int i = 0; i < footer->num_row_groups(); ++i) {
    const auto row_group = footer->RowGroup(i);
    RowGroupFooter& described = row_groups.emplace_back();
    described.rows = row_group->num_rows();
    for (int column = 0; column < row_group->num_columns(); ++column) {
      described.bytes += row_group->ColumnChunk(column)->total_compressed_size();
    }
    const ExtractedValue payload = Extract(input, i, runs);
    if (const auto* text = std::get_if<std::string>(&payload)) {
      described.runs_payload = *text;
    }
  }
  return row_groups;
}

/// A segment without rows, in the place of one that is in quarantine.
ReadSegment Quarantined(const TableUuid& table, std::vector<SourceRange> ranges) {
  return {.footer = std::make_shared<const SegmentFooter>(
              SegmentFooter{.table_uuid = table, .ranges = std::move(ranges)})};
}

/// A thread costs more than some round trips do.
constexpr std::size_t kFootersPerThreadMin = 8;

}  // namespace

Result<ExtractedRowGroups> ExtractFrom(std::string_view name, const Footer& footer,
                                       const std::vector<Extraction>& extractions) {
  return Guarded(name, [&]() -> Result<ExtractedRowGroups> {
    const ExtractionInput input = {footer, KeyValuesOf(footer)};
    ExtractedRowGroups row_groups;
    for (int i = 0; i < footer->num_row_groups(); ++i) {
      auto& values = row_groups.emplace_back();
      for (const Extraction& extraction : extractions) {
        values[extraction.field_id] = std::visit(
            [&](const auto& from) { return Extract(input, i, from); }, extraction.from);
      }
    }
    return row_groups;
  });
}

Result<SegmentFooter> DecodeFooter(std::string_view segment, const Footer& footer) {
  return Guarded(segment, [&]() -> Result<SegmentFooter> {
    const ExtractionInput input = {footer, KeyValuesOf(footer)};
    FIRN_ASSIGN_OR_RETURN(
        SegmentFooter decoded,
        DecodeSegmentFooter(segment, RowGroupFooters(footer, input), input.key_values));
    FIRN_RETURN_NOT_OK(CheckMetrics(segment, footer, decoded));
    return decoded;
  });
}

std::vector<const SegmentObject*> SegmentsAbove(const Positions& positions,
                                                const std::vector<ShardListing>& shards) {
  std::vector<const SegmentObject*> segments;
  for (const ShardListing& shard : shards) {
    const SegmentSequence position = PositionOf(positions, shard.shard);
    for (const SegmentObject& segment : shard.segments) {
      if (segment.name.sequence > position) segments.push_back(&segment);
    }
  }
  return segments;
}

ListedSegment ListedOf(const SegmentObject& segment) {
  return {.name = segment.name,
          .size_bytes = segment.quarantined ? 0 : segment.size_bytes,
          .modified_us = segment.modified_us};
}

WalReader::WalReader(Runtime& runtime, storage::ObjectStore& store)
    : runtime_(runtime), store_(store), mutex_(runtime) {}

Result<ExtractedRowGroups> WalReader::Extract(
    const std::string& key, std::int64_t size_bytes,
    const std::vector<Extraction>& extractions) {
  FIRN_ASSIGN_OR_RETURN(const ReadSegment segment, Find(key, size_bytes));
  return ExtractFrom(key, segment.parquet, extractions);
}

Result<ReadSegment> WalReader::ReadSegmentFooter(const std::string& key,
                                                 std::int64_t size_bytes) {
  FIRN_ASSIGN_OR_RETURN(ReadSegment segment, Find(key, size_bytes));
  if (segment.footer != nullptr) return segment;
  FIRN_ASSIGN_OR_RETURN(SegmentFooter footer, DecodeFooter(key, segment.parquet));
  segment.footer = std::make_shared<const SegmentFooter>(std::move(footer));
  Remember(key, size_bytes, segment);
  return segment;
}

Result<ReadSegment> WalReader::ReadOne(const TableUuid& table,
                                       const SegmentObject& segment) {
  if (segment.quarantined) {
    FIRN_ASSIGN_OR_RETURN(auto ranges, ReadQuarantine(store_, segment.name));
    return Quarantined(table, std::move(ranges));
  }
  FIRN_ASSIGN_OR_RETURN(ReadSegment read,
                        ReadSegmentFooter(segment.key, segment.size_bytes));
  if (read.footer->table_uuid != table) {
    return Error(ErrorKind::kCorruption, "segment {} is of another table, {}",
                 segment.key, read.footer->table_uuid);
  }
  return read;
}

Status WalReader::ForEachFooter(
    const TableUuid& table, const std::vector<const SegmentObject*>& segments,
    const StopToken& stop, const std::function<void(std::size_t, ReadSegment)>& take) {
  const std::size_t threads_max =
      std::min(kFooterReadsAtOnce, segments.size() / kFootersPerThreadMin);
  return ForEachInParallel(
      runtime_, segments.size(), {.threads_max = threads_max, .thread_name = "footers"},
      [&](std::size_t i) {
        FIRN_RETURN_NOT_OK(stop.Check());
        FIRN_ASSIGN_OR_RETURN(ReadSegment read, ReadOne(table, *segments[i]));
        take(i, std::move(read));
        return Status::OK();
      });
}

Result<std::vector<ReadSegment>> WalReader::ReadFooters(
    const TableUuid& table, const std::vector<const SegmentObject*>& segments,
    const StopToken& stop) {
  std::vector<ReadSegment> footers(segments.size());
  FIRN_RETURN_NOT_OK(ForEachFooter(
      table, segments, stop,
      [&](std::size_t i, ReadSegment read) { footers[i] = std::move(read); }));
  return footers;
}

Result<std::vector<ListedSegment>> WalReader::ReadRanges(
    const TableUuid& table, const std::vector<const SegmentObject*>& segments,
    const StopToken& stop) {
  std::vector<ListedSegment> listing(segments.size());
  FIRN_RETURN_NOT_OK(
      ForEachFooter(table, segments, stop, [&](std::size_t i, const ReadSegment& read) {
        listing[i] = ListedOf(*segments[i]);
        listing[i].ranges = read.footer->ranges;
      }));
  return listing;
}

Result<std::vector<ListedSegment>> WalReader::ListSegments(const TableUuid& table,
                                                           const Positions& positions) {
  FIRN_ASSIGN_OR_RETURN(const auto shards, ListShards(store_, table));
  return ReadRanges(table, SegmentsAbove(positions, shards));
}

Result<ReadSegment> WalReader::Find(const std::string& key, std::int64_t size_bytes) {
  {
    MutexLock lock(mutex_);
    const auto found = index_.find(key);
    if (found != index_.end() && found->second->size_bytes == size_bytes) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->segment;
    }
  }
  FIRN_ASSIGN_OR_RETURN(Footer footer, parquet_io::ReadFooter(store_, key, size_bytes));
  ReadSegment segment = {.parquet = std::move(footer)};
  Remember(key, size_bytes, segment);
  return segment;
}

void WalReader::Remember(const std::string& key, std::int64_t size_bytes,
                         ReadSegment segment) {
  MutexLock lock(mutex_);
  const auto found = index_.find(key);
  if (found != index_.end()) entries_.erase(found->second);
  entries_.push_front({key, size_bytes, std::move(segment)});
  index_[key] = entries_.begin();
  if (entries_.size() <= kFootersCachedMax) return;
  index_.erase(entries_.back().key);
  entries_.pop_back();
}

}  // namespace firn::wal
