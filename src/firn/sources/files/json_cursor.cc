#include "firn/sources/files/json_cursor.h"

#include <algorithm>
#include <charconv>

namespace firn::sources {
namespace {

constexpr std::size_t kDepthMax = 200;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }

bool IsHighSurrogate(std::uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool IsLowSurrogate(std::uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

void AppendUtf8(std::uint32_t code_point, std::string& out) {
  const auto append = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) return append(code_point);
  if (code_point < 0x800) {
    append(0xc0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    append(0xe0 | code_point >> 12);
    append(0x80 | (code_point >> 6 & 0x3f));
  } else {
    append(0xf0 | code_point >> 18);
    append(0x80 | (code_point >> 12 & 0x3f));
    append(0x80 | (code_point >> 6 & 0x3f));
  }
  append(0x80 | (code_point & 0x3f));
}

/// What an escape of one letter stands for; 0 if it stands for nothing.
char Unescaped(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

std::string_view JsonKindName(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return "a boolean";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

Status JsonCursor::Wrong(std::string_view what) const {
  return InvalidError("not JSON: {} at byte {}", what, at_ + 1);
}

void JsonCursor::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
}

bool JsonCursor::Take(char expected) {
  if (at_ == text_.size() || text_[at_] != expected) return false;
  ++at_;
  return true;
}

Result<JsonKind> JsonCursor::Peek() {
  SkipSpace();
  if (at_ == text_.size()) return Wrong("it ends where a value should follow");
  switch (const char c = text_[at_]) {
    case 'n':
      return JsonKind::kNull;
    case 't':
    case 'f':
      return JsonKind::kBoolean;
    case '"':
      return JsonKind::kString;
    case '[':
      return JsonKind::kArray;
    case '{':
      return JsonKind::kObject;
    default:
      if (c == '-' || IsDigit(c)) return JsonKind::kNumber;
      return Wrong("no value");
  }
}

Status JsonCursor::Literal(std::string_view literal) {
  if (!text_.substr(at_).starts_with(literal)) return Wrong("no value");
  at_ += literal.size();
  return Status::OK();
}

Status JsonCursor::Null() { return Literal("null"); }

Result<bool> JsonCursor::Boolean() {
  const bool is_true = text_[at_] == 't';
  FIRN_RETURN_NOT_OK(Literal(is_true ? "true" : "false"));
  return is_true;
}

Status JsonCursor::SkipDigits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
  return at_ > begin ? Status::OK() : Wrong("no digit");
}

Result<std::string_view> JsonCursor::Number() {
  const std::size_t begin = at_;
  Take('-');
  if (!Take('0')) FIRN_RETURN_NOT_OK(SkipDigits());
  if (Take('.')) FIRN_RETURN_NOT_OK(SkipDigits());
  if (Take('e') || Take('E')) {
    if (!Take('+')) Take('-');
    FIRN_RETURN_NOT_OK(SkipDigits());
  }
  return text_.substr(begin, at_ - begin);
}

/// `is_plain`: nothing in it is escaped.
Status JsonCursor::SkipString(bool& is_plain) {
  is_plain = true;
  ++at_;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return Status::OK();
    }
    if (IsControl(c)) return Wrong("a control character in a string");
    if (c != '\\') continue;
    is_plain = false;
    ++at_;
  }
  at_ = text_.size();
  return Wrong("it ends inside a string");
}

Result<std::string_view> JsonCursor::String() {
  const std::size_t begin = at_ + 1;
  bool is_plain = true;
  FIRN_RETURN_NOT_OK(SkipString(is_plain));
  const std::string_view escaped = text_.substr(begin, at_ - 1 - begin);
  if (is_plain) return escaped;
  FIRN_RETURN_NOT_OK(Decode(escaped));
  return decoded_;
}

Status JsonCursor::Decode(std::string_view escaped) {
  decoded_.clear();
  std::size_t at = 0;
  while (at < escaped.size()) {
    const std::size_t backslash = std::min(escaped.find('\\', at), escaped.size());
    decoded_ += escaped.substr(at, backslash - at);
    at = backslash;
    if (at < escaped.size()) FIRN_RETURN_NOT_OK(DecodeEscape(escaped, at));
  }
  return Status::OK();
}

/// Takes "\n", "\u00e4" or a pair of surrogates.
Status JsonCursor::DecodeEscape(std::string_view escaped, std::size_t& at) {
  const char letter = escaped[at + 1];
  if (letter != 'u') {
    at += 2;
    const char unescaped = Unescaped(letter);
    if (unescaped == '\0') return Wrong("an unknown escape in the string");
    decoded_ += unescaped;
    return Status::OK();
  }
  FIRN_ASSIGN_OR_RETURN(std::uint32_t code_point, DecodeUnit(escaped, at));
  if (IsLowSurrogate(code_point)) return Wrong("half a character in the string");
  if (IsHighSurrogate(code_point)) {
    FIRN_ASSIGN_OR_RETURN(const std::uint32_t low, DecodeUnit(escaped, at));
    if (!IsLowSurrogate(low)) return Wrong("half a character in the string");
    code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(code_point, decoded_);
  return Status::OK();
}

/// The four digits of a "\u" escape.
Result<std::uint32_t> JsonCursor::DecodeUnit(std::string_view escaped, std::size_t& at) {
  const std::string_view rest = escaped.substr(at);
  if (!rest.starts_with("\\u")) return Wrong("half a character in the string");
  const std::string_view digits = rest.substr(2, 4);
  std::uint32_t unit = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, unit, 16);
  if (digits.size() != 4 || error != std::errc() || stop != end) {
    return Wrong("an escape without four digits in the string");
  }
  at += 6;
  return unit;
}

Status JsonCursor::Enter(char bracket) {
  if (!Take(bracket)) return Wrong("no value");
  if (is_first_.size() == kDepthMax) return Wrong("too many levels");
  is_first_.push_back(true);
  return Status::OK();
}

Status JsonCursor::EnterArray() { return Enter('['); }
Status JsonCursor::EnterObject() { return Enter('{'); }

Result<bool> JsonCursor::NextMember(char bracket) {
  SkipSpace();
  if (Take(bracket)) {
    is_first_.pop_back();
    return false;
  }
  const bool is_first = is_first_.back();
  is_first_.back() = false;
  if (!is_first && !Take(',')) return Wrong(fmt::format("no ',' or '{}'", bracket));
  SkipSpace();
  return true;
}

Result<bool> JsonCursor::NextElement() { return NextMember(']'); }

Result<std::optional<std::string_view>> JsonCursor::NextKey() {
  FIRN_ASSIGN_OR_RETURN(const bool has_member, NextMember('}'));
  if (!has_member) return std::nullopt;
  if (at_ == text_.size() || text_[at_] != '"') return Wrong("no name of a field");
  FIRN_ASSIGN_OR_RETURN(const std::string_view key, String());
  SkipSpace();
  if (!Take(':')) return Wrong("no ':'");
  return key;
}

Status JsonCursor::SkipScalar(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return Null();
    case JsonKind::kBoolean:
      return Boolean().status();
    case JsonKind::kNumber:
      return Number().status();
    default:
      return String().status();
  }
}

Status JsonCursor::SkipMembers(JsonKind kind) {
  if (kind == JsonKind::kArray) {
    FIRN_RETURN_NOT_OK(EnterArray());
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const bool has_element, NextElement());
      if (!has_element) return Status::OK();
      FIRN_RETURN_NOT_OK(SkipValue());
    }
  }
  FIRN_RETURN_NOT_OK(EnterObject());
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const auto key, NextKey());
    if (!key) return Status::OK();
    FIRN_RETURN_NOT_OK(SkipValue());
  }
}

/// Recursive, but no deeper than kDepthMax.
Status JsonCursor::SkipValue() {
  FIRN_ASSIGN_OR_RETURN(const JsonKind kind, Peek());
  const bool is_nested = kind == JsonKind::kArray || kind == JsonKind::kObject;
  return is_nested ? SkipMembers(kind) : SkipScalar(kind);
}

Result<std::string_view> JsonCursor::Skip() {
  SkipSpace();
  const std::size_t begin = at_;
  FIRN_RETURN_NOT_OK(SkipValue());
  return text_.substr(begin, at_ - begin);
}

Status JsonCursor::Finish() {
  SkipSpace();
  if (at_ < text_.size()) return Wrong("something follows the value");
  return Status::OK();
}

}  // namespace firn::sources
