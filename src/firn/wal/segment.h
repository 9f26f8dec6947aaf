#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/order/sort_order.h"
#include "firn/parquet_io/column_metrics.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"
#include "firn/types/value.h"

namespace firn::wal {

/// Version of the segment format that this build writes, and the highest it reads.
inline constexpr int kSegmentFormatVersion = 1;

/// Field ids of the two hidden columns; in the range that Iceberg reserves for metadata
/// columns.
inline constexpr FieldId kSourceFieldId = 2147483100;
inline constexpr FieldId kOffsetFieldId = 2147483101;

/// Most samples of one run.
inline constexpr std::size_t kKeySamplesMax = 15;

/// What of a table decides how its rows lie in the WAL.
struct TableLayout {
  TableUuid uuid;
  types::Schema schema;
  types::PartitionSpec spec;
  order::SortOrder order;
};

/// Half-open range of one source partition that a segment consumed. Offsets are the
/// source's own.
struct SourceRange {
  std::string source;
  std::int64_t first = 0;
  std::int64_t next = 0;

  bool operator==(const SourceRange&) const = default;
};

/// A key inside a run, and the share of the run's bytes below it.
struct KeySample {
  std::string key;
  double fraction = 0;

  bool operator==(const KeySample&) const = default;
};

/// Rows of one partition, sorted, standing together in one row group.
struct SegmentRun {
  /// Row of the row group at which it starts.
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  types::PartitionTuple partition;
  /// Truncated down to order::kKeyBytesMax bytes.
  std::string first_key;
  /// Truncated up; nothing = unbounded.
  std::optional<std::string> last_key;
  std::vector<KeySample> samples;
  /// Of the table's columns; empty if other runs share the row group, because only a row
  /// group that is one run can be copied undecoded.
  parquet_io::FileMetrics metrics;

  bool operator==(const SegmentRun&) const = default;
};

/// What a segment's footer says. Described byte by byte in docs/formats/segment.md.
struct SegmentFooter {
  TableUuid table_uuid;
  SchemaId schema_id;
  PartitionSpecId spec_id;
  SortOrderId order_id;
  /// order::KeyEncoder::KeyTypesText() of the keys.
  std::string key_types;
  std::vector<SourceRange> ranges;
  /// Runs of each row group, in row order.
  std::vector<std::vector<SegmentRun>> row_groups;

  bool operator==(const SegmentFooter&) const = default;
};

/// A segment's name below the WAL root: `<table uuid>/<shard>/<sequence, 20
/// digits>.parquet`.
struct SegmentName {
  TableUuid table_uuid;
  ShardId shard;
  SegmentSequence sequence;

  auto operator<=>(const SegmentName&) const = default;
};

std::string SegmentKey(const SegmentName& name);
/// Nothing if `key` is no segment's.
std::optional<SegmentName> ParseSegmentKey(std::string_view key);

}  // namespace firn::wal
