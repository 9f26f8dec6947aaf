#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <arrow/type_fwd.h>

#include "firn/core/ids.h"
#include "firn/core/status.h"
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

  bool operator==(const MetricsConfig&) const = default;
};

/// Iceberg's metrics of one primitive column. Bounds are in the binary single-value form,
/// exact or truncated truly: the lower not above any value, the upper not below. No bound
/// if there is no value but null and NaN.
struct ColumnMetrics {
  /// Values including nulls. Below a list or map: as Parquet counts them, so a list that
  /// is null or empty is one null value of its element.
  std::int64_t value_count = 0;
  std::int64_t null_count = 0;
  /// float and double only.
  std::optional<std::int64_t> nan_count;
  /// Columns below a list or map have no bounds, as in Iceberg's Java library.
  std::optional<std::string> lower_bound;
  std::optional<std::string> upper_bound;

  bool operator==(const ColumnMetrics&) const = default;
};

/// By field id of the primitive column. A column that is lacking is not known.
using FileMetrics = std::map<FieldId, ColumnMetrics>;

/// The metrics of `batch`, whose columns are ToArrowSchema(schema)'s (not
/// dictionary-encoded). Pure; every value is looked at once.
FileMetrics CollectMetrics(const types::Schema& schema, const MetricsConfig& config,
                           const arrow::RecordBatch& batch);

/// Leaves out what `config` does not want, and shortens longer bounds to its width.
void RestrictMetrics(const types::Schema& schema, const MetricsConfig& config,
                     FileMetrics& metrics);

/// Adds the metrics of further rows of the same schema to `total`; an empty map stands
/// for no rows. What one side does not know is lacking in the sum: a column, a NaN count,
/// or a bound where that side has values to bound.
void MergeMetrics(const types::Schema& schema, const FileMetrics& more,
                  FileMetrics& total);

}  // namespace firn::parquet_io
