#include "firn/types/schema_changes.h"

#include <fmt/format.h>

namespace firn::types {
namespace {

/// Adds what changed in fields of one struct, list or map, and below.
void AddChanges(const Schema& before, const std::vector<Field>& after,
                const std::string& prefix, std::vector<std::string>& changes) {
  for (const Field& field : after) {
    const std::string path = prefix + field.name;
    const Field* old = FindField(before, field.id);
    if (old == nullptr) {
      changes.push_back(fmt::format("added {} ({})", path, field.type.ToString()));
      continue;
    }
    if (old->required && !field.required) {
      changes.push_back(fmt::format("made {} optional", path));
    }
    if (field.type.is_primitive() && old->type != field.type) {
      changes.push_back(fmt::format("widened {} from {} to {}", path,
                                    old->type.ToString(), field.type.ToString()));
    }
    AddChanges(before, field.type.fields(), path + ".", changes);
  }
}

}  // namespace

std::vector<std::string> SchemaChanges(const Schema& before, const Schema& after) {
  std::vector<std::string> changes;
  AddChanges(before, after.fields, "", changes);
  return changes;
}

}  // namespace firn::types
