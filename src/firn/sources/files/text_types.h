#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "firn/types/type.h"

namespace firn::sources {

/// "line 9 of a.csv": where a value stands. Asked for rarely.
using TextPlace = std::function<std::string()>;

/// Which types the texts of a column are values of. Used by one thread.
///
/// A type that does not fit many of them is not looked at any more, so that a column of
/// words costs little.
class TextTypes {
 public:
  /// What is looked for, by preference; behind the types of a column those that only tell
  /// why there is none.
  enum Kind : std::uint8_t {
    kInt,
    kLong,
    kDouble,
    kBoolean,
    kDate,
    kTimestamptz,
    kTimestamp,
    kTimestamptzNs,
    kTimestampNs,
    kAnyTimestamp,
    kKindCount
  };
  /// Bits by kind.
  static constexpr std::uint32_t kAll = (1u << kKindCount) - 1;
  static constexpr std::uint32_t kIntBit = 1u << kInt;
  static constexpr std::uint32_t kNumbers = (1u << kBoolean) - 1;
  static constexpr std::uint32_t kTimes = kAll & ~((1u << kDate) - 1);

  /// `kinds`: those that are looked for. `explains`: WhyString will be asked.
  TextTypes(std::uint32_t kinds, bool explains)
      : looked_for_(kinds), preferred_(kinds), explains_(explains) {}

  void Add(std::string_view text, const TextPlace& place);

  /// The first that every text is a value of; string if there is none.
  types::Type Preferred() const;

  /// Why it is a string, where all texts but a few are values of one type: a sentence
  /// that goes on behind the column's name. Empty if it is none, or they are not.
  std::string WhyString() const;

 private:
  struct Misfits {
    std::int64_t count = 0;
    /// "'oops' in line 9 of a.csv".
    std::string first;
  };

  void AddMisfit(std::size_t kind, std::string_view text, const TextPlace& place);
  bool IsNearly(const Misfits& misfits) const;
  /// The kind that the fewest misfit, if they are few.
  std::optional<std::size_t> Nearest() const;

  std::uint32_t looked_for_;
  /// Of those, the ones that every text fits.
  std::uint32_t preferred_;
  bool explains_;
  std::int64_t count_ = 0;
  std::array<Misfits, kKindCount> misfits_;
};

}  // namespace firn::sources
