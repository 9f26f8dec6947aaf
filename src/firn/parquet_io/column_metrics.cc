#include "firn/parquet_io/column_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/bit_run_reader.h>

#include "firn/types/bounds.h"
#include "firn/types/single_value.h"

namespace firn::parquet_io {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;
using types::Value;

const MetricsMode& ModeOf(const MetricsConfig& config, FieldId id) {
  const auto found = config.columns.find(id);
  return found == config.columns.end() ? config.default_mode : found->second;
}

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Which elements of an array stand for rows of the batch, and how many more entries are
/// null because something above them is null or empty.
struct Entries {
  std::vector<Range> present;
  std::int64_t absent = 0;
  bool repeated = false;
};

/// Calls `visit(begin, end)` for each stretch of elements that are not null.
template <typename Visit>
void VisitValid(const arrow::Array& array, const Entries& entries, Visit&& visit) {
  const std::uint8_t* bitmap =
      array.null_count() == 0 ? nullptr : array.null_bitmap_data();
  for (const Range& range : entries.present) {
    if (array.null_count() == array.length()) continue;
    if (bitmap == nullptr) {
      if (range.begin < range.end) visit(range.begin, range.end);
      continue;
    }
    arrow::internal::VisitSetBitRunsVoid(
        bitmap, array.offset() + range.begin, range.end - range.begin,
        [&](std::int64_t position, std::int64_t length) {
          visit(range.begin + position, range.begin + position + length);
        });
  }
}

std::int64_t CountEntries(const Entries& entries) {
  std::int64_t count = entries.absent;
  for (const Range& range : entries.present) count += range.end - range.begin;
  return count;
}

void AppendRange(std::vector<Range>& ranges, Range range) {
  if (!ranges.empty() && ranges.back().end == range.begin) {
    ranges.back().end = range.end;
  } else {
    ranges.push_back(range);
  }
}

Entries EntriesOfStructFields(const arrow::Array& array, const Entries& entries) {
  Entries inner{.repeated = entries.repeated};
  VisitValid(array, entries, [&](std::int64_t begin, std::int64_t end) {
    inner.present.push_back({begin, end});
  });
  inner.absent = CountEntries(entries) - CountEntries(inner);
  return inner;
}

/// For lists and maps, which share their layout. A null or empty one counts as one null
/// entry of its element.
Entries EntriesOfElements(const arrow::ListArray& array, const Entries& entries) {
  Entries inner{.repeated = true};
  std::int64_t lists_with_elements = 0;
  VisitValid(array, entries, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (array.value_length(i) == 0) continue;
      ++lists_with_elements;
      AppendRange(inner.present, {array.value_offset(i), array.value_offset(i + 1)});
    }
  });
  inner.absent = CountEntries(entries) - lists_with_elements;
  return inner;
}

/// Least and greatest value seen; views stay valid as long as the array.
template <typename T>
struct MinMax {
  bool any = false;
  T lower{};
  T upper{};

  void Add(const T& value) {
    if (!any) {
      lower = upper = value;
      any = true;
      return;
    }
    if (value < lower) lower = value;
    if (upper < value) upper = value;
  }
};

template <typename T>
void AddNumbers(const T* values, std::int64_t begin, std::int64_t end, MinMax<T>& seen) {
  T lower = values[begin];
  T upper = values[begin];
  for (std::int64_t i = begin; i < end; ++i) {
    lower = std::min(lower, values[i]);
    upper = std::max(upper, values[i]);
  }
  seen.Add(lower);
  seen.Add(upper);
}

/// One primitive column of one batch.
class ColumnCollector {
 public:
  ColumnCollector(const Type& type, const arrow::Array& array, const Entries& entries,
                  bool with_bounds)
      : type_(type), array_(array), entries_(entries), with_bounds_(with_bounds) {}

  ColumnMetrics Collect() {
    metrics_.value_count = CountEntries(entries_);
    std::int64_t valid = 0;
    Visit([&](std::int64_t begin, std::int64_t end) { valid += end - begin; });
    metrics_.null_count = metrics_.value_count - valid;
    CollectValues();
    return std::move(metrics_);
  }

 private:
  template <typename Visitor>
  void Visit(Visitor&& visitor) {
    VisitValid(array_, entries_, visitor);
  }

  void CollectValues() {
    switch (type_.kind()) {
      case TypeKind::kFloat:
        return CollectFloats<float>();
      case TypeKind::kDouble:
        return CollectFloats<double>();
      default:
        if (with_bounds_) CollectBounds();
    }
  }

  void CollectBounds() {
    switch (type_.kind()) {
      case TypeKind::kBoolean:
        return CollectBooleans();
      case TypeKind::kInt:
      case TypeKind::kDate:
        return CollectIntegers<std::int32_t>();
      case TypeKind::kLong:
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kTimestamptz:
      case TypeKind::kTimestampNs:
      case TypeKind::kTimestamptzNs:
        return CollectIntegers<std::int64_t>();
      case TypeKind::kDecimal:
        return CollectDecimals();
      case TypeKind::kString:
      case TypeKind::kBinary:
        return CollectViews(static_cast<const arrow::BinaryArray&>(array_));
      case TypeKind::kUuid:
      case TypeKind::kFixed:
        return CollectViews(static_cast<const arrow::FixedSizeBinaryArray&>(array_));
      default:
        return;
    }
  }

  template <typename T>
  void CollectFloats() {
    const T* values = array_.data()->GetValues<T>(1);
    MinMax<T> seen;
    std::int64_t nan_count = 0;
    Visit([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (std::isnan(values[i])) {
          ++nan_count;
        } else {
          seen.Add(values[i]);
        }
      }
    });
    metrics_.nan_count = nan_count;
    if (!with_bounds_) return;
    // Both zeros are equal here, but not in the order of the bounds: take the outer ones.
    if (seen.lower == 0) seen.lower = -T{0};
    if (seen.upper == 0) seen.upper = T{0};
    SetBounds(seen);
  }

  template <typename T>
  void CollectIntegers() {
    const T* values = array_.data()->GetValues<T>(1);
    MinMax<T> seen;
    Visit([&](std::int64_t begin, std::int64_t end) {
      AddNumbers(values, begin, end, seen);
    });
    SetBounds(seen);
  }

  void CollectBooleans() {
    const auto& booleans = static_cast<const arrow::BooleanArray&>(array_);
    MinMax<bool> seen;
    Visit([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) seen.Add(booleans.Value(i));
    });
    SetBounds(seen);
  }

  void CollectDecimals() {
    const auto& decimals = static_cast<const arrow::FixedSizeBinaryArray&>(array_);
    MinMax<types::DecimalValue> seen;
    Visit([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        types::DecimalValue value;
        std::memcpy(&value.unscaled, decimals.GetValue(i), sizeof value.unscaled);
        seen.Add(value);
      }
    });
    SetBounds(seen);
  }

  template <typename BytesArray>
  void CollectViews(const BytesArray& bytes) {
    MinMax<std::string_view> seen;
    Visit([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) seen.Add(bytes.GetView(i));
    });
    SetBounds(seen);
  }

  template <typename T>
  void SetBounds(const MinMax<T>& seen) {
    if (!seen.any) return;
    using Held = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;
    metrics_.lower_bound = types::ToBytes(type_, Value(Held(seen.lower)));
    metrics_.upper_bound = types::ToBytes(type_, Value(Held(seen.upper)));
  }

  const Type& type_;
  const arrow::Array& array_;
  const Entries& entries_;
  const bool with_bounds_;
  ColumnMetrics metrics_;
};

class BatchCollector {
 public:
  explicit BatchCollector(const MetricsConfig& config) : config_(config) {}

  void Visit(const Field& field, const arrow::Array& array, const Entries& entries) {
    switch (field.type.kind()) {
      case TypeKind::kStruct:
        return VisitStruct(field.type, static_cast<const arrow::StructArray&>(array),
                           entries);
      case TypeKind::kList: {
        const auto& list = static_cast<const arrow::ListArray&>(array);
        return Visit(field.type.fields()[0], *list.values(),
                     EntriesOfElements(list, entries));
      }
      case TypeKind::kMap: {
        const auto& map = static_cast<const arrow::MapArray&>(array);
        const Entries inner = EntriesOfElements(map, entries);
        Visit(field.type.fields()[0], *map.keys(), inner);
        return Visit(field.type.fields()[1], *map.items(), inner);
      }
      default:
        return VisitPrimitive(field, array, entries);
    }
  }

  FileMetrics Take() { return std::move(metrics_); }

 private:
  void VisitStruct(const Type& type, const arrow::StructArray& array,
                   const Entries& entries) {
    const Entries inner = EntriesOfStructFields(array, entries);
    for (std::size_t i = 0; i < type.fields().size(); ++i) {
      Visit(type.fields()[i], *array.field(static_cast<int>(i)), inner);
    }
  }

  void VisitPrimitive(const Field& field, const arrow::Array& array,
                      const Entries& entries) {
    const MetricsMode& mode = ModeOf(config_, field.id);
    if (mode.kind == MetricsMode::Kind::kNone) return;
    const bool with_bounds = mode.kind != MetricsMode::Kind::kCounts && !entries.repeated;
    metrics_[field.id] =
        ColumnCollector(field.type, array, entries, with_bounds).Collect();
  }

  const MetricsConfig& config_;
  FileMetrics metrics_;
};

void Truncate(const Type& type, std::int32_t width, ColumnMetrics& metrics) {
  const auto size = static_cast<std::size_t>(std::max(width, 0));
  const bool is_string = type.kind() == TypeKind::kString;
  if (!is_string && type.kind() != TypeKind::kBinary) return;
  if (metrics.lower_bound) {
    metrics.lower_bound = is_string
                              ? types::TruncateLowerString(*metrics.lower_bound, size)
                              : types::TruncateLowerBinary(*metrics.lower_bound, size);
  }
  if (metrics.upper_bound) {
    metrics.upper_bound = is_string
                              ? types::TruncateUpperString(*metrics.upper_bound, size)
                              : types::TruncateUpperBinary(*metrics.upper_bound, size);
  }
}

/// Values that a bound could be of.
std::int64_t BoundedCount(const ColumnMetrics& metrics) {
  return metrics.value_count - metrics.null_count - metrics.nan_count.value_or(0);
}

/// `prefer(a, b)` tells which of two decoded bounds is kept.
template <typename Prefer>
std::optional<std::string> MergeBound(const Type& type, const ColumnMetrics& a,
                                      const ColumnMetrics& b,
                                      std::optional<std::string> ColumnMetrics::* bound,
                                      Prefer prefer) {
  if (BoundedCount(a) == 0) return b.*bound;
  if (BoundedCount(b) == 0) return a.*bound;
  if (!(a.*bound) || !(b.*bound)) return std::nullopt;
  const Result<Value> value_a = types::FromBytes(type, *(a.*bound));
  const Result<Value> value_b = types::FromBytes(type, *(b.*bound));
  // A bound that cannot be understood bounds nothing.
  if (!value_a.ok() || !value_b.ok()) return std::nullopt;
  return prefer(*value_a, *value_b) ? a.*bound : b.*bound;
}

ColumnMetrics MergeColumn(const Type& type, const ColumnMetrics& a,
                          const ColumnMetrics& b) {
  ColumnMetrics sum{.value_count = a.value_count + b.value_count,
                    .null_count = a.null_count + b.null_count};
  if (a.nan_count && b.nan_count) sum.nan_count = *a.nan_count + *b.nan_count;
  sum.lower_bound = MergeBound(type, a, b, &ColumnMetrics::lower_bound,
                               [](const Value& x, const Value& y) { return x <= y; });
  sum.upper_bound = MergeBound(type, a, b, &ColumnMetrics::upper_bound,
                               [](const Value& x, const Value& y) { return x >= y; });
  return sum;
}

}  // namespace

FileMetrics CollectMetrics(const types::Schema& schema, const MetricsConfig& config,
                           const arrow::RecordBatch& batch) {
  BatchCollector collector(config);
  const Entries rows{.present = {{.begin = 0, .end = batch.num_rows()}}};
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    collector.Visit(schema.fields[i], *batch.column(static_cast<int>(i)), rows);
  }
  FileMetrics metrics = collector.Take();
  RestrictMetrics(schema, config, metrics);
  return metrics;
}

void RestrictMetrics(const types::Schema& schema, const MetricsConfig& config,
                     FileMetrics& metrics) {
  std::erase_if(metrics, [&](const auto& entry) {
    return ModeOf(config, entry.first).kind == MetricsMode::Kind::kNone ||
           types::FindField(schema, entry.first) == nullptr;
  });
  for (auto& [id, column] : metrics) {
    const MetricsMode& mode = ModeOf(config, id);
    if (mode.kind == MetricsMode::Kind::kCounts) {
      column.lower_bound.reset();
      column.upper_bound.reset();
    } else if (mode.kind == MetricsMode::Kind::kTruncate) {
      Truncate(types::FindField(schema, id)->type, mode.width, column);
    }
  }
}

void MergeMetrics(const types::Schema& schema, const FileMetrics& more,
                  FileMetrics& total) {
  if (more.empty()) return;
  if (total.empty()) {
    total = more;
    return;
  }
  std::erase_if(total, [&](const auto& entry) { return !more.contains(entry.first); });
  for (auto& [id, column] : total) {
    const Field* field = types::FindField(schema, id);
    if (field != nullptr) column = MergeColumn(field->type, column, more.at(id));
  }
}

}  // namespace firn::parquet_io
