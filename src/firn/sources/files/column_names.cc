#include "firn/sources/files/column_names.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include <arrow/util/utf8.h>

#include "firn/core/lower_case.h"
#include "firn/core/nearest.h"
#include "firn/types/column_list.h"

namespace firn::sources {
namespace {

/// More would hide what is said around them.
constexpr std::size_t kNamesShown = 20;

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

std::optional<std::string> LikelyDelimiter(std::string_view only_column) {
  const std::size_t found = only_column.find_first_of(";\t|");
  if (found == std::string_view::npos) return std::nullopt;
  const char delimiter = only_column[found];
  return delimiter == '\t' ? "\\t" : std::string(1, delimiter);
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
  std::string text =
      close ? fmt::format("did you mean '{}'? it has ", *close) : "it has ";
  const std::size_t shown = std::min(names.size(), kNamesShown);
  text += fmt::format(
      "{}",
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace firn::sources
