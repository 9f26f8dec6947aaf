#include "firn/core/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "firn/core/status.h"

namespace firn {
namespace {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestName(const std::vector<std::string>& names, std::string_view text) {
  FIRN_CHECK(!names.empty());
  return *std::ranges::min_element(
      names, {}, [&](const std::string& name) { return EditDistance(name, text); });
}

std::optional<std::string> CloseName(const std::vector<std::string>& names,
                                     std::string_view text) {
  if (names.empty()) return std::nullopt;
  std::string nearest = NearestName(names, text);
  const std::size_t errors_max = (nearest.size() + 2) / 3;
  if (EditDistance(nearest, text) > errors_max) return std::nullopt;
  return nearest;
}

std::string DidYouMean(const std::vector<std::string>& names, std::string_view text) {
  const auto close = CloseName(names, text);
  return close ? fmt::format("; did you mean '{}'?", *close) : "";
}

}  // namespace firn
