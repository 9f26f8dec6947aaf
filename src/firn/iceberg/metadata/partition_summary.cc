#include "firn/iceberg/metadata/partition_summary.h"

#include <cmath>
#include <type_traits>
#include <variant>

#include "firn/types/single_value.h"

namespace firn::iceberg {
namespace {

bool IsNan(const types::Value& value) {
  return std::visit(
      [](const auto& typed) {
        using Typed = std::decay_t<decltype(typed)>;
        if constexpr (std::is_floating_point_v<Typed>) {
          return std::isnan(typed);
        } else {
          return false;
        }
      },
      value);
}

/// REQUIRES: neither is null or NaN, and both have one type.
bool IsBelow(const types::Value& a, const types::Value& b) {
  if (a < b) return true;
  return std::visit(
      [&b](const auto& typed) {
        using Typed = std::decay_t<decltype(typed)>;
        if constexpr (std::is_floating_point_v<Typed>) {
          const Typed other = std::get<Typed>(b);
          return typed == other && std::signbit(typed) && !std::signbit(other);
        } else {
          return false;
        }
      },
      a);
}

FieldSummary Summarize(const types::Type& type, std::size_t position,
                       const std::vector<DataFile>& files) {
  FieldSummary summary{.contains_nan = false};
  const types::Value* lowest = nullptr;
  const types::Value* highest = nullptr;
  for (const DataFile& file : files) {
    const types::Value& value = file.partition[position];
    if (types::IsNull(value)) {
      summary.contains_null = true;
    } else if (IsNan(value)) {
      summary.contains_nan = true;
    } else {
      if (lowest == nullptr || IsBelow(value, *lowest)) lowest = &value;
      if (highest == nullptr || IsBelow(*highest, value)) highest = &value;
    }
  }
  if (lowest != nullptr) summary.lower_bound = types::ToBytes(type, *lowest);
  if (highest != nullptr) summary.upper_bound = types::ToBytes(type, *highest);
  return summary;
}

}  // namespace

std::vector<FieldSummary> SummarizePartitions(const std::vector<types::Type>& types,
                                              const std::vector<DataFile>& files) {
  std::vector<FieldSummary> summaries;
  for (std::size_t i = 0; i < types.size(); ++i) {
    summaries.push_back(Summarize(types[i], i, files));
  }
  return summaries;
}

}  // namespace firn::iceberg
