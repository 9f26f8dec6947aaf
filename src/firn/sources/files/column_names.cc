#include "firn/sources/files/column_names.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include <arrow/util/utf8.h>

#include "firn/core/lower_case.h"
#include "firn/core/nearest.h"
#include "firn/sources/files/value_text.h"
#include "firn/types/column_list.h"

namespace firn::sources {
namespace {

/// More would hide what is said around them.
constexpr std::size_t kNamesShown = 20;
constexpr std::string_view kDelimiters = ",;\t|";

/// "id, name and 300 more".
std::string SomeOf(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamesShown);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

enum class NameKind {
  kWord,
  kInteger,
  kBoolean,
  kDate,
  /// What nobody calls a column.
  kNoName,
};

NameKind KindOf(const std::string& name) {
  const auto is = [&](types::TypeKind kind) {
    return ValueFromText(types::Type(kind), name).ok();
  };
  if (name.find_first_of("\r\n") != std::string::npos) return NameKind::kNoName;
  // "t" and "inf" are words.
  const bool has_digit = name.find_first_of("0123456789") != std::string::npos;
  if (!has_digit) {
    const bool is_boolean = name.size() > 1 && is(types::TypeKind::kBoolean);
    return is_boolean ? NameKind::kBoolean : NameKind::kWord;
  }
  if (is(types::TypeKind::kLong)) return NameKind::kInteger;
  if (is(types::TypeKind::kDate)) return NameKind::kDate;
  const bool is_value = is(types::TypeKind::kDouble) ||
                        is(types::TypeKind::kTimestampNs) ||
                        is(types::TypeKind::kTimestamptzNs);
  return is_value ? NameKind::kNoName : NameKind::kWord;
}

}  // namespace

Status CheckColumnNames(const std::vector<std::string>& names) {
  arrow::util::InitializeUTF8();
  std::map<std::string, std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name.empty()) {
      return InvalidError(
          "column {} has no name; give it one (a CSV file without a header line is read "
          "with --no-header)",
          i + 1);
    }
    if (!arrow::util::ValidateUTF8(name)) {
      return InvalidError("the name of column {} is not UTF-8", i + 1);
    }
    const auto [same, is_new] = seen.emplace(LowerCase(name), name);
    if (is_new) continue;
    if (same->second == name) {
      return InvalidError("two columns have the name '{}'; rename one of them", name);
    }
    return InvalidError(
        "the columns '{}' and '{}' differ only in case; rename one of them", same->second,
        name);
  }
  return Status::OK();
}

std::optional<std::string> LikelyDelimiter(std::string_view only_value, char delimiter) {
  const auto found = std::ranges::find_if(only_value, [&](char c) {
    return c != delimiter && kDelimiters.find(c) != std::string_view::npos;
  });
  if (found == only_value.end()) return std::nullopt;
  return *found == '\t' ? "\\t" : std::string(1, *found);
}

bool LooksLikeRecord(const std::vector<std::string>& names) {
  std::set<NameKind> kinds;
  for (const std::string& name : names) kinds.insert(KindOf(name));
  if (kinds.contains(NameKind::kNoName)) return true;
  const bool has_words = kinds.erase(NameKind::kWord) > 0;
  return kinds.size() > (has_words ? 1 : 0);
}

const std::string* FindValue(const std::vector<std::string>& names) {
  const auto found = std::ranges::find_if(
      names, [](const std::string& name) { return KindOf(name) != NameKind::kWord; });
  return found == names.end() ? nullptr : &*found;
}

Status NoneIsKnown(const std::vector<std::string>& columns,
                   const std::vector<std::string>& names) {
  return InvalidError(
      "the table has none of the file's columns; it has {}, and the file {}; "
      "--ignore-unknown leaves out others, but one has to be there",
      SomeOf(names), SomeOf(columns));
}

Status CheckFieldNames(const std::vector<types::Field>& fields) {
  FIRN_RETURN_NOT_OK(CheckColumnNames(ColumnNames(fields)));
  for (const types::Field& field : fields) {
    if (field.type.is_primitive()) continue;
    FIRN_RETURN_NOT_OK(AddContext(CheckFieldNames(field.type.fields()),
                                  fmt::format("column '{}'", field.name)));
  }
  return Status::OK();
}

std::string WhatIsThere(const std::vector<std::string>& names, std::string_view name) {
  const auto close = CloseName(names, name);
  const std::string hint = close ? fmt::format("did you mean '{}'? ", *close) : "";
  return hint + "it has " + SomeOf(names);
}

}  // namespace firn::sources
