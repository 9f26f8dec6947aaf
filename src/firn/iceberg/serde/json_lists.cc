#include "firn/iceberg/serde/json_lists.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include <fmt/format.h>

namespace firn::iceberg::serde {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

/// Walks over a document by brackets, commas and strings alone.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t position() const { return position_; }
  bool is_at_end() const { return position_ >= text_.size(); }
  char next() const { return is_at_end() ? '\0' : text_[position_]; }

  void SkipSpace() {
    while (!is_at_end() && kSpace.find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  bool Take(char wanted) {
    if (next() != wanted || is_at_end()) return false;
    ++position_;
    return true;
  }

  /// From behind its opening quote to behind its closing one.
  void SkipString() {
    const std::size_t begin = position_;
    while (true) {
      position_ = std::min(text_.find('"', position_), text_.size());
      if (is_at_end()) return;
      const bool is_escaped = BackslashesBefore(position_, begin) % 2 == 1;
      ++position_;
      if (!is_escaped) return;
    }
  }

  /// To the comma or closing bracket behind a value, or to the end of the text.
  void SkipValue() {
    int depth = 0;
    while (!is_at_end()) {
      const char c = text_[position_];
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',')) return;
      ++position_;
      if (c == '"') SkipString();
      if (c == '{' || c == '[') ++depth;
      if (closes) --depth;
    }
  }

 private:
  std::size_t BackslashesBefore(std::size_t end, std::size_t begin) const {
    std::size_t first = end;
    while (first > begin && text_[first - 1] == '\\') --first;
    return end - first;
  }

  const std::string_view text_;
  std::size_t position_ = 0;
};

/// From behind an opening bracket to behind the closing one; nothing if there is none.
std::optional<std::vector<std::string_view>> Elements(std::string_view document,
                                                      Walker& walker) {
  std::vector<std::string_view> elements;
  walker.SkipSpace();
  if (walker.Take(']')) return elements;
  do {
    const std::size_t begin = walker.position();
    walker.SkipValue();
    elements.push_back(Trimmed(document.substr(begin, walker.position() - begin)));
  } while (walker.Take(','));
  if (!walker.Take(']')) return std::nullopt;
  return elements;
}

/// From a name's opening quote to behind its colon; nothing if that is not what is there,
/// or the name has escapes.
std::optional<std::string_view> Name(std::string_view document, Walker& walker) {
  walker.SkipSpace();
  if (!walker.Take('"')) return std::nullopt;
  const std::size_t begin = walker.position();
  walker.SkipString();
  // Behind the closing quote, or at the end of a document that is cut off.
  const std::string_view name = document.substr(begin, walker.position() - 1 - begin);
  walker.SkipSpace();
  if (!walker.Take(':')) return std::nullopt;
  walker.SkipSpace();
  if (name.find('\\') != std::string_view::npos) return std::nullopt;
  return name;
}

}  // namespace

std::optional<CutLists> CutTopLevelLists(std::string_view document,
                                         const std::vector<std::string_view>& names) {
  CutLists cut;
  cut.elements.resize(names.size());
  std::set<std::string_view> seen;
  std::size_t copied = 0;
  Walker walker(document);
  walker.SkipSpace();
  if (!walker.Take('{')) return std::nullopt;
  do {
    const auto name = Name(document, walker);
    if (!name || !seen.insert(*name).second) return std::nullopt;
    const auto wanted = std::ranges::find(names, *name);
    if (wanted == names.end() || !walker.Take('[')) {
      walker.SkipValue();
      continue;
    }
    cut.rest += document.substr(copied, walker.position() - copied);
    auto elements = Elements(document, walker);
    if (!elements) return std::nullopt;
    cut.elements[wanted - names.begin()] = *std::move(elements);
    // The closing bracket stays.
    copied = walker.position() - 1;
    walker.SkipSpace();
  } while (walker.Take(','));
  cut.rest += document.substr(copied);
  return cut;
}

std::optional<CutMember> CutTopLevelMember(std::string_view document,
                                           std::string_view name) {
  std::optional<CutMember> cut;
  std::set<std::string_view> seen;
  Walker walker(document);
  walker.SkipSpace();
  if (!walker.Take('{')) return std::nullopt;
  do {
    const auto found = Name(document, walker);
    if (!found || !seen.insert(*found).second) return std::nullopt;
    const std::size_t begin = walker.position();
    walker.SkipValue();
    if (*found != name) continue;
    const std::size_t end = walker.position();
    cut = CutMember{
        .rest = fmt::format("{}null{}", document.substr(0, begin), document.substr(end)),
        .value = Trimmed(document.substr(begin, end - begin))};
  } while (walker.Take(','));
  return cut;
}

}  // namespace firn::iceberg::serde
