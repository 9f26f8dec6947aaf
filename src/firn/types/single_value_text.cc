#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "firn/types/calendar.h"
#include "firn/types/single_value.h"

namespace firn::types {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::int64_t kEpochYear = 1970;
constexpr int kMicroDigits = 6;
constexpr int kNanoDigits = 9;
constexpr std::size_t kUuidBytes = 16;
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool IsZoned(TypeKind kind) {
  return kind == TypeKind::kTimestamptz || kind == TypeKind::kTimestamptzNs;
}

int FractionDigits(TypeKind kind) {
  const bool is_nanoseconds =
      kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestamptzNs;
  return is_nanoseconds ? kNanoDigits : kMicroDigits;
}

std::int64_t UnitsPerSecond(int fraction_digits) {
  return fraction_digits == kNanoDigits ? kNanosPerSecond : kMicrosPerSecond;
}

// ---- to text ----

template <typename Float>
std::string FloatText(Float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string DecimalText(__int128 unscaled, std::int32_t scale) {
  const bool is_negative = unscaled < 0;
  auto rest = static_cast<unsigned __int128>(unscaled);
  if (is_negative) rest = -rest;
  std::string reversed;
  while (rest > 0 || reversed.size() <= static_cast<std::size_t>(scale)) {
    reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (is_negative) reversed += '-';
  std::string text(reversed.rbegin(), reversed.rend());
  if (scale > 0) text.insert(text.size() - static_cast<std::size_t>(scale), 1, '.');
  return text;
}

std::string YearText(std::int64_t year) {
  if (year > 9999) return fmt::format("+{}", year);
  if (year < 0) return fmt::format("-{:04}", -year);
  return fmt::format("{:04}", year);
}

std::string MonthText(std::int64_t months_since_epoch) {
  return fmt::format("{}-{:02}",
                     YearText(kEpochYear + FloorDivide(months_since_epoch, 12)),
                     FloorRemainder(months_since_epoch, 12) + 1);
}

std::string DateText(std::int64_t days_since_epoch) {
  const CivilDate date = DateOfDay(days_since_epoch);
  return fmt::format("{}-{:02}-{:02}", YearText(date.year), date.month, date.day);
}

std::string HourText(std::int64_t hours_since_epoch) {
  return fmt::format("{}-{:02}", DateText(FloorDivide(hours_since_epoch, 24)),
                     FloorRemainder(hours_since_epoch, 24));
}

/// REQUIRES: 0 <= `units_of_day`.
std::string TimeText(std::int64_t units_of_day, int fraction_digits) {
  const std::int64_t units_per_second = UnitsPerSecond(fraction_digits);
  const std::int64_t seconds = units_of_day / units_per_second;
  const std::int64_t fraction = units_of_day % units_per_second;
  std::string text =
      fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (fraction != 0) text += fmt::format(".{:0{}}", fraction, fraction_digits);
  return text;
}

std::string TimestampText(TypeKind kind, std::int64_t units) {
  const int digits = FractionDigits(kind);
  const std::int64_t units_per_day = UnitsPerSecond(digits) * kSecondsPerDay;
  return fmt::format("{}T{}{}", DateText(FloorDivide(units, units_per_day)),
                     TimeText(FloorRemainder(units, units_per_day), digits),
                     IsZoned(kind) ? "+00:00" : "");
}

std::string HexText(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += kHexDigits[static_cast<unsigned char>(byte) >> 4];
    text += kHexDigits[static_cast<unsigned char>(byte) & 0xf];
  }
  return text;
}

std::string UuidText(std::string_view bytes) {
  std::string text = HexText(bytes);
  for (const std::size_t position : {8, 13, 18, 23}) text.insert(position, 1, '-');
  return text;
}

// ---- from text ----

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

template <typename Float>
std::optional<Float> ParseFloat(std::string_view text) {
  // from_chars also takes "nan(...)".
  if (text.find('(') != std::string_view::npos) return std::nullopt;
  return ParseNumber<Float>(text);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<DecimalValue> ParseDecimal(const Type& type, std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? "" : text.substr(point + 1);
  const auto scale = static_cast<std::size_t>(type.scale());
  if (whole.empty() || fraction.size() > scale) return std::nullopt;
  if (fraction.empty() && point != std::string_view::npos) return std::nullopt;

  std::string digits = std::string(whole) + std::string(fraction);
  digits.append(scale - fraction.size(), '0');
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() > static_cast<std::size_t>(type.precision())) return std::nullopt;
  __int128 unscaled = 0;
  for (const char digit : digits) {
    if (!IsDigit(digit)) return std::nullopt;
    unscaled = unscaled * 10 + (digit - '0');
  }
  return DecimalValue{is_negative ? -unscaled : unscaled};
}

/// Reads a text from left to right; each call takes what it names, or nothing and is
/// false.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }

  bool Take(char expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// All digits that follow, `digits_min` to `digits_max` of them.
  bool TakeDigits(std::size_t digits_min, std::size_t digits_max, std::int64_t& value) {
    std::size_t count = 0;
    while (count < rest_.size() && IsDigit(rest_[count])) ++count;
    if (count < digits_min || count > digits_max) return false;
    value = *ParseNumber<std::int64_t>(rest_.substr(0, count));
    taken_digits_ = static_cast<int>(count);
    rest_.remove_prefix(count);
    return true;
  }

  /// Exactly two digits, not above `max`.
  bool TakeTwoDigits(std::int64_t max, std::int64_t& value) {
    if (rest_.size() < 2 || !IsDigit(rest_[0]) || !IsDigit(rest_[1])) return false;
    value = (rest_[0] - '0') * 10 + (rest_[1] - '0');
    rest_.remove_prefix(2);
    return value <= max;
  }

  /// Of the last TakeDigits.
  int taken_digits() const { return taken_digits_; }

 private:
  std::string_view rest_;
  int taken_digits_ = 0;
};

/// Years of four digits, or with a sign of four to seven (ISO 8601's expanded form).
bool TakeYear(TextReader& reader, std::int64_t& year) {
  if (reader.Take('-')) {
    if (!reader.TakeDigits(4, 7, year)) return false;
    year = -year;
    return true;
  }
  const bool has_sign = reader.Take('+');
  return reader.TakeDigits(4, has_sign ? 7 : 4, year);
}

bool TakeDate(TextReader& reader, std::int64_t& days_since_epoch) {
  CivilDate date;
  const bool is_date = TakeYear(reader, date.year) && reader.Take('-') &&
                       reader.TakeTwoDigits(12, date.month) && reader.Take('-') &&
                       reader.TakeTwoDigits(31, date.day) && IsValid(date);
  if (is_date) days_since_epoch = DaysSinceEpoch(date);
  return is_date;
}

bool TakeFraction(TextReader& reader, int fraction_digits, std::int64_t& units) {
  if (!reader.TakeDigits(1, static_cast<std::size_t>(fraction_digits), units)) {
    return false;
  }
  for (int i = reader.taken_digits(); i < fraction_digits; ++i) units *= 10;
  return true;
}

bool TakeTime(TextReader& reader, int fraction_digits, std::int64_t& units_of_day) {
  std::int64_t hours = 0, minutes = 0, seconds = 0, fraction = 0;
  const bool is_time = reader.TakeTwoDigits(23, hours) && reader.Take(':') &&
                       reader.TakeTwoDigits(59, minutes) && reader.Take(':') &&
                       reader.TakeTwoDigits(59, seconds);
  if (!is_time) return false;
  if (reader.Take('.') && !TakeFraction(reader, fraction_digits, fraction)) return false;
  units_of_day =
      (hours * 3600 + minutes * 60 + seconds) * UnitsPerSecond(fraction_digits) +
      fraction;
  return true;
}

/// "Z", "+01:00" or "+0100".
bool TakeOffset(TextReader& reader, std::int64_t& offset_seconds) {
  if (reader.Take('Z')) {
    offset_seconds = 0;
    return true;
  }
  const bool is_negative = reader.Take('-');
  if (!is_negative && !reader.Take('+')) return false;
  std::int64_t hours = 0, minutes = 0;
  if (!reader.TakeTwoDigits(18, hours)) return false;
  reader.Take(':');
  if (!reader.TakeTwoDigits(59, minutes)) return false;
  offset_seconds = (hours * 3600 + minutes * 60) * (is_negative ? -1 : 1);
  return true;
}

std::optional<std::int32_t> ParseDate(std::string_view text) {
  TextReader reader(text);
  std::int64_t days = 0;
  if (!TakeDate(reader, days) || !reader.AtEnd()) return std::nullopt;
  if (!std::in_range<std::int32_t>(days)) return std::nullopt;
  return static_cast<std::int32_t>(days);
}

std::optional<std::int64_t> ParseTime(std::string_view text) {
  TextReader reader(text);
  std::int64_t micros = 0;
  if (!TakeTime(reader, kMicroDigits, micros) || !reader.AtEnd()) return std::nullopt;
  return micros;
}

std::optional<std::int64_t> ParseTimestamp(TypeKind kind, std::string_view text) {
  TextReader reader(text);
  const int digits = FractionDigits(kind);
  std::int64_t days = 0, units_of_day = 0, offset_seconds = 0;
  if (!TakeDate(reader, days)) return std::nullopt;
  if (!reader.Take('T') && !reader.Take(' ')) return std::nullopt;
  if (!TakeTime(reader, digits, units_of_day)) return std::nullopt;
  if (IsZoned(kind) && !TakeOffset(reader, offset_seconds)) return std::nullopt;
  if (!reader.AtEnd()) return std::nullopt;
  const __int128 seconds = __int128{days} * kSecondsPerDay - offset_seconds;
  const __int128 units = seconds * UnitsPerSecond(digits) + units_of_day;
  const bool is_in_range = units >= std::numeric_limits<std::int64_t>::min() &&
                           units <= std::numeric_limits<std::int64_t>::max();
  if (!is_in_range) return std::nullopt;
  return static_cast<std::int64_t>(units);
}

std::optional<bool> ParseBoolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<unsigned> HexDigit(char c) {
  if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const std::size_t digit = kHexDigits.find(c);
  if (digit == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(digit);
}

std::optional<std::string> ParseHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = HexDigit(text[i]);
    const auto low = HexDigit(text[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high << 4 | *low);
  }
  return bytes;
}

std::optional<std::string> ParseHexOfSize(std::string_view text, std::size_t size) {
  auto bytes = ParseHex(text);
  if (!bytes || bytes->size() != size) return std::nullopt;
  return bytes;
}

std::optional<std::string> ParseUuid(std::string_view text) {
  std::string digits(text);
  for (const std::size_t position : {23, 18, 13, 8}) {
    if (position >= digits.size() || digits[position] != '-') return std::nullopt;
    digits.erase(position, 1);
  }
  return ParseHexOfSize(digits, kUuidBytes);
}

std::optional<Value> Parse(const Type& type, std::string_view text) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return ParseBoolean(text);
    case TypeKind::kInt:
      return ParseNumber<std::int32_t>(text);
    case TypeKind::kLong:
      return ParseNumber<std::int64_t>(text);
    case TypeKind::kFloat:
      return ParseFloat<float>(text);
    case TypeKind::kDouble:
      return ParseFloat<double>(text);
    case TypeKind::kDecimal:
      return ParseDecimal(type, text);
    case TypeKind::kDate:
      return ParseDate(text);
    case TypeKind::kTime:
      return ParseTime(text);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return ParseTimestamp(type.kind(), text);
    case TypeKind::kString:
      return std::string(text);
    case TypeKind::kUuid:
      return ParseUuid(text);
    case TypeKind::kFixed:
      return ParseHexOfSize(text, static_cast<std::size_t>(type.length()));
    case TypeKind::kBinary:
      return ParseHex(text);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string ToText(const Type& type, const Value& value) {
  if (IsNull(value)) return "null";
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return std::get<bool>(value) ? "true" : "false";
    case TypeKind::kInt:
      return fmt::format("{}", std::get<std::int32_t>(value));
    case TypeKind::kLong:
      return fmt::format("{}", std::get<std::int64_t>(value));
    case TypeKind::kFloat:
      return FloatText(std::get<float>(value));
    case TypeKind::kDouble:
      return FloatText(std::get<double>(value));
    case TypeKind::kDecimal:
      return DecimalText(std::get<DecimalValue>(value).unscaled, type.scale());
    case TypeKind::kDate:
      return DateText(std::get<std::int32_t>(value));
    case TypeKind::kTime:
      return TimeText(std::get<std::int64_t>(value), kMicroDigits);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return TimestampText(type.kind(), std::get<std::int64_t>(value));
    case TypeKind::kString:
      return std::get<std::string>(value);
    case TypeKind::kUuid:
      return UuidText(std::get<std::string>(value));
    default:
      return HexText(std::get<std::string>(value));
  }
}

std::string ToText(const Transform& transform, const Type& source, const Value& value) {
  if (IsNull(value)) return "null";
  switch (transform.kind) {
    case TransformKind::kBucket:
      return fmt::format("{}", std::get<std::int32_t>(value));
    case TransformKind::kYear:
      return YearText(kEpochYear + std::get<std::int32_t>(value));
    case TransformKind::kMonth:
      return MonthText(std::get<std::int32_t>(value));
    case TransformKind::kDay:
      return DateText(std::get<std::int32_t>(value));
    case TransformKind::kHour:
      return HourText(std::get<std::int32_t>(value));
    default:
      return ToText(source, value);
  }
}

Result<Value> FromText(const Type& type, std::string_view text) {
  if (auto value = Parse(type, text)) return *std::move(value);
  return InvalidError("not a value of type {}: '{}'", type.ToString(), text);
}

}  // namespace firn::types
