#include "firn/iceberg/metadata/table_properties.h"

#include "firn/core/lower_case.h"

namespace firn::iceberg {

const std::string* FindTableProperty(const TableMetadata& metadata,
                                     const std::string& name) {
  const auto property = metadata.properties.find(name);
  return property == metadata.properties.end() ? nullptr : &property->second;
}

bool IsTrue(const std::string& text) { return EqualWithoutCase(text, "true"); }

}  // namespace firn::iceberg
