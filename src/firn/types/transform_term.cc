#include "firn/types/transform_term.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "firn/core/lower_case.h"
#include "firn/core/nearest.h"
#include "firn/types/column_list.h"

namespace firn::types {
namespace {

struct Call {
  std::string transform;
  std::string_view column;
};

/// "name(column)" or "name(parameter, column)"; nothing for any other text.
std::optional<Call> ParseCall(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const std::string_view name = TrimBlanks(text.substr(0, open));
  const std::string_view arguments = text.substr(open + 1, text.size() - open - 2);
  const std::size_t comma = arguments.find(',');
  if (comma == std::string_view::npos) {
    return Call{.transform = std::string(name), .column = TrimBlanks(arguments)};
  }
  const std::string_view parameter = TrimBlanks(arguments.substr(0, comma));
  return Call{.transform = fmt::format("{}[{}]", name, parameter),
              .column = TrimBlanks(arguments.substr(comma + 1))};
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "; write bucket(16, id)" for a term whose number is missing or in the wrong place;
/// empty if there is no column in it.
std::string NumberHint(std::string_view function,
                       const std::vector<std::string_view>& arguments) {
  const auto column = std::ranges::find_if_not(arguments, IsNumber);
  if (column == arguments.end()) return "";
  const auto number = std::ranges::find_if(arguments, [](std::string_view argument) {
    return IsNumber(argument) && !argument.starts_with('0');
  });
  return fmt::format("; write {}({}, {})", function,
                     number == arguments.end() ? "16" : *number, *column);
}

/// What was probably meant by a term without a transform; empty if that cannot be told.
/// REQUIRES: ParseCall understands the term.
std::string Hint(std::string_view term) {
  const std::size_t open = term.find('(');
  const auto arguments = SplitTerms(term.substr(open + 1, term.size() - open - 2));
  std::string name = LowerCase(TrimBlanks(term.substr(0, open)));
  for (const std::string_view function : {"bucket", "truncate"}) {
    if (name == function) return NumberHint(function, arguments);
  }
  if (name.ends_with('s')) name.pop_back();
  if (arguments.size() != 1 || !ParseTransform(name).ok()) return "";
  return fmt::format("; did you mean {}({})?", name, arguments[0]);
}

}  // namespace

std::string_view TrimBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string SourceName(const Schema& schema, FieldId id) {
  const auto path = ColumnPath(schema, id);
  if (!path) return fmt::format("field {}", id);
  std::vector<std::string_view> names;
  const std::vector<Field>* fields = &schema.fields;
  for (const int index : *path) {
    const Field& field = (*fields)[static_cast<std::size_t>(index)];
    names.push_back(field.name);
    fields = &field.type.fields();
  }
  return fmt::format("{}", fmt::join(names, "."));
}

std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  if (TrimBlanks(text).empty()) return terms;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] != ',' || depth > 0) continue;
    terms.push_back(TrimBlanks(text.substr(start, i - start)));
    start = i + 1;
  }
  terms.push_back(TrimBlanks(text.substr(start)));
  return terms;
}

Result<TransformTerm> ParseTransformTerm(std::string_view text, const Schema& schema) {
  if (text.find('(') != std::string_view::npos && !text.ends_with(')')) {
    return InvalidError("'{}': there is no ')' at its end", text);
  }
  const Call call =
      ParseCall(text).value_or(Call{.transform = "identity", .column = TrimBlanks(text)});
  const Result<Transform> transform = ParseTransform(call.transform);
  if (!transform.ok()) {
    return InvalidError("'{}': {}{}", text, ErrorText(transform.status()), Hint(text));
  }
  const Field* column = FindField(schema, call.column);
  if (column == nullptr) {
    return InvalidError("'{}': there is no column '{}'{}", text, call.column,
                        DidYouMean(ColumnNames(schema.fields), call.column));
  }
  if (!ColumnPath(schema, column->id)) {
    return InvalidError("'{}': column '{}' is inside a list or map", text, call.column);
  }
  const Result<Type> result_type = ResultType(*transform, column->type);
  if (!result_type.ok()) {
    return AddContext(result_type.status(), fmt::format("'{}'", text));
  }
  return TransformTerm{.source_id = column->id,
                       .source_name = std::string(call.column),
                       .transform = *transform};
}

}  // namespace firn::types
