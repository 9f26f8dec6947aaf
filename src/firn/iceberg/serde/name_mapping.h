#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "firn/types/schema.h"

namespace firn::iceberg {

/// The table property that says which names stand for which field in files without field
/// ids (Iceberg spec, "Column Projection" and Appendix C, "Name Mapping Serialization").
inline constexpr const char* kNameMappingProperty = "schema.name-mapping.default";

/// `mapping` with the fields that `after` has and `before` has not, each under its own
/// name, which no other field of the same parent keeps, as Iceberg's Java library does
/// it. What is there otherwise stays, names of dropped fields too. Nothing if there is
/// nothing to add, or the text is no mapping: then nobody reads by it. Pure.
std::optional<std::string> NameMappingWithNewFields(std::string_view mapping,
                                                    const types::Schema& before,
                                                    const types::Schema& after);

}  // namespace firn::iceberg
