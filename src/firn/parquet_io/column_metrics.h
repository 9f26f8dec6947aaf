#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "firn/core/ids.h"
#include "firn/types/schema.h"

namespace firn::parquet_io {

/// How much is kept of a column (Iceberg table property write.metadata.metrics.*).
struct MetricsMode {
  enum class Kind { kNone, kCounts, kTruncate, kFull };
  Kind kind = Kind::kTruncate;
  /// Code points of a string, bytes of a binary; kTruncate only.
  std::int32_t width = 16;

  bool operator==(const MetricsMode&) const = default;
};

struct MetricsConfig {
  MetricsMode default_mode;
  std::map<FieldId, MetricsMode> columns;
};

/// Iceberg's metrics of one primitive column. Bounds are in the binary single-value form,
/// exact or truncated truly: the lower not above any value, the upper not below. No bound
/// if there is no value but null and NaN.
struct ColumnMetrics {
  std::int64_t value_count = 0;
  std::int64_t null_count = 0;
  /// float and double only.
  std::optional<std::int64_t> nan_count;
  std::optional<std::string> lower_bound;
  std::optional<std::string> upper_bound;

  bool operator==(const ColumnMetrics&) const = default;
};

using FileMetrics = std::map<FieldId, ColumnMetrics>;

/// Adds the metrics of further rows of the same schema to `total`. A bound that is
/// missing on one side, where that side has values, is missing in the sum.
void MergeMetrics(const types::Schema& schema, const FileMetrics& more,
                  FileMetrics& total);

}  // namespace firn::parquet_io
