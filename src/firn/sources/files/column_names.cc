#include "firn/sources/files/column_names.h"

#include <map>

#include <arrow/util/utf8.h>

#include "firn/core/lower_case.h"

namespace firn::sources {

std::vector<std::string> ColumnNames(const std::vector<types::Field>& fields) {
  std::vector<std::string> names;
  for (const types::Field& field : fields) names.push_back(field.name);
  return names;
}

Status CheckColumnNames(const std::vector<std::string>& names) {
  arrow::util::InitializeUTF8();
  std::map<std::string, std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name.empty()) return InvalidError("column {} has no name", i + 1);
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

}  // namespace firn::sources
