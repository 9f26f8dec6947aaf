#include "firn/order/sort_order.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "firn/core/lower_case.h"
#include "firn/types/transform_term.h"

namespace firn::order {
namespace {

/// The words of `text` in lower case.
std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (text = types::TrimBlanks(text); !text.empty(); text = types::TrimBlanks(text)) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(LowerCase(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return words;
}

/// Where the column or transform ends and the direction begins.
std::size_t TermBytes(std::string_view text) {
  const std::size_t close = text.rfind(')');
  if (close != std::string_view::npos) return close + 1;
  return std::min(text.find_first_of(" \t"), text.size());
}

struct Ordering {
  Direction direction = Direction::kAscending;
  NullOrder null_order = NullOrder::kNullsFirst;
};

/// "[asc|desc] [nulls first|nulls last]"; nothing for anything else.
std::optional<Ordering> ParseOrdering(std::vector<std::string> words) {
  Ordering ordering;
  if (!words.empty() && (words[0] == "asc" || words[0] == "desc")) {
    if (words[0] == "desc") {
      ordering = {Direction::kDescending, NullOrder::kNullsLast};
    }
    words.erase(words.begin());
  }
  if (words.empty()) return ordering;
  if (words.size() != 2 || words[0] != "nulls") return std::nullopt;
  if (words[1] != "first" && words[1] != "last") return std::nullopt;
  ordering.null_order =
      words[1] == "first" ? NullOrder::kNullsFirst : NullOrder::kNullsLast;
  return ordering;
}

Result<SortField> ParseSortField(std::string_view text, const types::Schema& schema) {
  const std::size_t term_bytes = TermBytes(text);
  FIRN_ASSIGN_OR_RETURN(const types::TransformTerm term,
                        types::ParseTransformTerm(text.substr(0, term_bytes), schema));
  const auto ordering = ParseOrdering(Words(text.substr(term_bytes)));
  if (!ordering) {
    return InvalidError(
        "'{}': after the column come only [asc|desc] and [nulls first|nulls last]", text);
  }
  return SortField{.source_id = term.source_id,
                   .transform = term.transform,
                   .direction = ordering->direction,
                   .null_order = ordering->null_order};
}

}  // namespace

Result<SortOrder> ParseSortOrder(std::string_view text, const types::Schema& schema) {
  SortOrder order;
  for (const std::string_view term : types::SplitTerms(text)) {
    FIRN_ASSIGN_OR_RETURN(SortField field, ParseSortField(term, schema));
    order.fields.push_back(std::move(field));
  }
  order.id = SortOrderId(order.fields.empty() ? 0 : 1);
  return order;
}

}  // namespace firn::order
