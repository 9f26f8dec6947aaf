#include "firn/iceberg/metadata/table_properties.h"

#include <algorithm>
#include <string_view>

namespace firn::iceberg {

const std::string* FindTableProperty(const TableMetadata& metadata,
                                     const std::string& name) {
  const auto property = metadata.properties.find(name);
  return property == metadata.properties.end() ? nullptr : &property->second;
}

bool IsTrue(const std::string& text) {
  return std::ranges::equal(text, std::string_view("true"), {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
}

}  // namespace firn::iceberg
