#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"

namespace firn::sources {

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

/// "null", "a boolean", "a number", ...
std::string_view JsonKindName(JsonKind kind);

/// Walks through one JSON document (RFC 8259) from front to back, strictly: every byte
/// that it passes is checked, numbers are handed out as they are written.
///
/// After an error (Invalid, with the byte where it was met) there is no going on. The
/// text must outlive the cursor and be UTF-8. Used by one thread.
///
///     FIRN_RETURN_NOT_OK(cursor.EnterObject());
///     while (true) {
///       FIRN_ASSIGN_OR_RETURN(const auto key, cursor.NextKey());
///       if (!key) break;
///       FIRN_RETURN_NOT_OK(cursor.Skip().status());
///     }
///     FIRN_RETURN_NOT_OK(cursor.Finish());
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  /// What comes next.
  Result<JsonKind> Peek();

  /// Each takes the value that comes next. REQUIRES: Peek said so.
  Status Null();
  Result<bool> Boolean();
  Result<std::string_view> Number();
  /// Decoded. The view lives until the next call, and as long as the text.
  Result<std::string_view> String();
  Status EnterArray();
  Status EnterObject();

  /// False behind the last element of the array that was entered last, which is left.
  Result<bool> NextElement();
  /// The next key of the object that was entered last; nothing behind the last one, and
  /// the object is left. The view lives until the next call.
  Result<std::optional<std::string_view>> NextKey();

  /// Passes over a whole value; its text as it is written.
  Result<std::string_view> Skip();

  /// Invalid if anything follows the document.
  Status Finish();

 private:
  Status Wrong(std::string_view what) const;
  void SkipSpace();
  bool Take(char expected);
  Status Literal(std::string_view literal);
  Status SkipDigits();
  Status Enter(char bracket);
  /// False if `bracket` was met and taken.
  Result<bool> NextMember(char bracket);
  Status SkipString(bool& is_plain);
  Status Decode(std::string_view escaped);
  Status DecodeEscape(std::string_view escaped, std::size_t& at);
  Result<std::uint32_t> DecodeUnit(std::string_view escaped, std::size_t& at);
  Status SkipScalar(JsonKind kind);
  Status SkipMembers(JsonKind kind);
  Status SkipValue();

  const std::string_view text_;
  std::size_t at_ = 0;
  /// For each array or object that was entered: true before its first member.
  std::vector<bool> is_first_;
  std::string decoded_;
};

}  // namespace firn::sources
