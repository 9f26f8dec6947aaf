#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace firn::sources {

/// Why a record did not fit, for who counts: few classes, whatever records say.
enum class ReasonClass : std::uint8_t {
  /// It is no record: damaged JSON or CSV, a column twice.
  kMalformed,
  /// It has a column that the table does not have.
  kUnknownColumn,
  /// A required column has no value.
  kMissingValue,
  /// A value is not of its column's type.
  kInvalidValue,
};

/// Names in metrics, by class.
inline constexpr std::array<std::string_view, 4> kReasonClassNames = {
    "malformed", "unknown_column", "missing_value", "invalid_value"};

/// Records by the class of their reason.
class ReasonCounts {
 public:
  void Add(ReasonClass reason) { ++counts_[static_cast<std::size_t>(reason)]; }
  std::int64_t Of(ReasonClass reason) const {
    return counts_[static_cast<std::size_t>(reason)];
  }
  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : counts_) sum += count;
    return sum;
  }

 private:
  std::array<std::int64_t, kReasonClassNames.size()> counts_ = {};
};

}  // namespace firn::sources
