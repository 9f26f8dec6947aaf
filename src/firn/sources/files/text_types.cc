#include "firn/sources/files/text_types.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "firn/core/format_count.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/sources/files/value_text.h"

namespace firn::sources {
namespace {

using types::Type;
using types::TypeKind;

constexpr std::array kTypeOfKind = {
    TypeKind::kInt,       TypeKind::kLong,          TypeKind::kDouble,
    TypeKind::kBoolean,   TypeKind::kDate,          TypeKind::kTimestamptz,
    TypeKind::kTimestamp, TypeKind::kTimestamptzNs, TypeKind::kTimestampNs};
/// Every integer of so many digits is a double.
constexpr std::size_t kDoubleDigits = 15;
/// One in so many texts is an odd one.
constexpr std::int64_t kOneIn = 100;
/// In a column of few texts: so many, of five times as many.
constexpr std::int64_t kFew = 3;
constexpr std::int64_t kFewOneIn = 5;
/// More, beyond one in a hundred, and the column is of another type.
constexpr std::int64_t kMisfitsMax = 1000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view WithoutSign(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text;
}

bool HasLeadingZero(std::string_view number) {
  return number.size() > 1 && number[0] == '0' && IsDigit(number[1]);
}

/// True if a column of this type may hold `text` and give back what it says.
bool FitsType(TypeKind kind, std::string_view text) {
  const bool is_integer = kind == TypeKind::kInt || kind == TypeKind::kLong;
  const bool is_number = is_integer || kind == TypeKind::kDouble;
  const std::string_view number = WithoutSign(text);
  if (is_number && HasLeadingZero(number)) return false;
  const bool is_long_integer =
      number.size() > kDoubleDigits && std::ranges::all_of(number, IsDigit);
  if (kind == TypeKind::kDouble && is_long_integer) return false;
  // Only a double has a zero with a sign.
  if (is_integer && text == "-0") return false;
  // "t" is taken where a boolean is declared, but may well be a letter.
  if (kind == TypeKind::kBoolean && text.size() == 1) return false;
  return ValueFromText(Type(kind), text).ok();
}

constexpr std::uint32_t kMicros =
    1u << TextTypes::kTimestamptz | 1u << TextTypes::kTimestamp;

/// The kind that holds the same in microseconds.
std::size_t InMicros(std::size_t kind) {
  return kind == TextTypes::kTimestamptzNs ? TextTypes::kTimestamptz
                                           : TextTypes::kTimestamp;
}

bool IsNanos(std::size_t kind) {
  return kind == TextTypes::kTimestamptzNs || kind == TextTypes::kTimestampNs;
}

/// `found`: the kinds before this one that fit, so that nothing is parsed for nothing.
bool Fits(std::size_t kind, std::string_view text, std::uint32_t found) {
  if (IsNanos(kind) && (found & 1u << InMicros(kind)) != 0) return true;
  if (kind != TextTypes::kAnyTimestamp) return FitsType(kTypeOfKind[kind], text);
  return (found & kMicros) != 0 || FitsType(TypeKind::kTimestamptz, text) ||
         FitsType(TypeKind::kTimestamp, text);
}

}  // namespace

void TextTypes::Add(std::string_view text, const TextPlace& place) {
  ++count_;
  std::uint32_t found = 0;
  for (std::size_t kind = 0; looked_for_ != 0 && kind < kKindCount; ++kind) {
    const std::uint32_t bit = 1u << kind;
    if ((looked_for_ & bit) == 0) continue;
    if (Fits(kind, text, found)) {
      found |= bit;
    } else {
      AddMisfit(kind, text, place);
    }
  }
}

void TextTypes::AddMisfit(std::size_t kind, std::string_view text,
                          const TextPlace& place) {
  const std::uint32_t bit = 1u << kind;
  preferred_ &= ~bit;
  if (!explains_) {
    looked_for_ &= ~bit;
    return;
  }
  Misfits& misfits = misfits_[kind];
  if (misfits.count++ == 0) {
    misfits.first = place ? fmt::format("{} in {}", Shown(text), place()) : Shown(text);
  }
  if (misfits.count > kMisfitsMax && misfits.count * kOneIn > count_) looked_for_ &= ~bit;
}

Type TextTypes::Preferred() const {
  for (std::size_t kind = 0; kind < kTimestamptzNs; ++kind) {
    if ((preferred_ & 1u << kind) != 0) return Type(kTypeOfKind[kind]);
  }
  return Type(TypeKind::kString);
}

bool TextTypes::IsNearly(const Misfits& misfits) const {
  return misfits.count * kOneIn <= count_ ||
         (misfits.count <= kFew && misfits.count * kFewOneIn <= count_);
}

std::optional<std::size_t> TextTypes::Nearest() const {
  std::optional<std::size_t> nearest;
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    if ((looked_for_ & 1u << kind) == 0 || !IsNearly(misfits_[kind])) continue;
    if (!nearest || misfits_[kind].count < misfits_[*nearest].count) nearest = kind;
  }
  return nearest;
}

std::string TextTypes::WhyString() const {
  const auto nearest = Nearest();
  if (!explains_ || !nearest || Preferred().kind() != TypeKind::kString) return {};
  if (*nearest == kAnyTimestamp) {
    return fmt::format(
        "has timestamps with a zone (the first {}) and without ({}), so it is a string; "
        "declare it with --schema to have the others as dead letters",
        misfits_[kTimestamp].first, misfits_[kTimestamptz].first);
  }
  if (IsNanos(*nearest)) {
    return fmt::format(
        "has nanoseconds (the first {}), so it is a string; declare it as {} with "
        "--schema (format version 3), or round them to microseconds",
        misfits_[InMicros(*nearest)].first, Type(kTypeOfKind[*nearest]).ToString());
  }
  const Misfits& odd = misfits_[*nearest];
  return fmt::format(
      "is a string: {} of {} {} no {}, the first {}; declare it with --schema to have "
      "{} as dead letter{}",
      FormatCount(odd.count), FormatCounted(count_, "value"),
      odd.count == 1 ? "is" : "are", Type(kTypeOfKind[*nearest]).ToString(), odd.first,
      odd.count == 1 ? "it" : "these", odd.count == 1 ? "" : "s");
}

}  // namespace firn::sources
