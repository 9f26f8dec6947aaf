#include "firn/iceberg/serde/name_mapping.h"

#include <set>
#include <vector>

#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg {
namespace {

using serde::Json;
using types::Field;

constexpr const char* kFieldId = "field-id";
constexpr const char* kNames = "names";
constexpr const char* kFields = "fields";

void CollectIds(const std::vector<Field>& fields, std::set<FieldId>& ids) {
  for (const Field& field : fields) {
    ids.insert(field.id);
    CollectIds(field.type.fields(), ids);
  }
}

Json EntryOf(const Field& field) {
  Json entry = {{kFieldId, field.id}, {kNames, Json::array({field.name})}};
  if (field.type.fields().empty()) return entry;
  entry[kFields] = Json::array();
  for (const Field& child : field.type.fields()) entry[kFields].push_back(EntryOf(child));
  return entry;
}

bool IsMapping(const Json& list) {
  if (!list.is_array()) return false;
  for (const Json& entry : list) {
    if (!entry.is_object()) return false;
    const auto id = entry.find(kFieldId);
    const auto names = entry.find(kNames);
    const auto fields = entry.find(kFields);
    if (id != entry.end() && !id->is_null() && !id->is_number_integer()) return false;
    if (names != entry.end() && !names->is_array()) return false;
    if (fields != entry.end() && !fields->is_null() && !IsMapping(*fields)) return false;
  }
  return true;
}

/// The entry of this field in the list; null if there is none.
Json* FindEntry(Json& list, FieldId id) {
  for (Json& entry : list) {
    const auto found = entry.find(kFieldId);
    if (found != entry.end() && *found == id) return &entry;
  }
  return nullptr;
}

void TakeNameFromOthers(Json& list, const std::string& name) {
  for (Json& entry : list) {
    const auto names = entry.find(kNames);
    if (names == entry.end()) continue;
    Json kept = Json::array();
    for (const Json& one : *names) {
      if (one != name) kept.push_back(one);
    }
    *names = std::move(kept);
  }
}

/// Adds what is not `known` to the list of one parent, and to those below. Gives whether
/// that is anything.
bool AddNewFields(const std::vector<Field>& fields, const std::set<FieldId>& known,
                  Json& list) {
  bool is_changed = false;
  for (const Field& field : fields) {
    Json* entry = FindEntry(list, field.id);
    if (entry == nullptr && !known.contains(field.id)) {
      TakeNameFromOthers(list, field.name);
      list.push_back(EntryOf(field));
      is_changed = true;
      continue;
    }
    if (entry == nullptr || field.type.fields().empty()) continue;
    Json children = Json::array();
    const auto found = entry->find(kFields);
    if (found != entry->end() && found->is_array()) children = *found;
    if (!AddNewFields(field.type.fields(), known, children)) continue;
    (*entry)[kFields] = std::move(children);
    is_changed = true;
  }
  return is_changed;
}

}  // namespace

std::optional<std::string> NameMappingWithNewFields(std::string_view mapping,
                                                    const types::Schema& before,
                                                    const types::Schema& after) {
  Result<Json> list = serde::ParseJson(mapping);
  if (!list.ok() || !IsMapping(*list)) return std::nullopt;
  std::set<FieldId> known;
  CollectIds(before.fields, known);
  if (!AddNewFields(after.fields, known, *list)) return std::nullopt;
  const Result<std::string> text = serde::DumpJson(*list);
  if (!text.ok()) return std::nullopt;
  return *text;
}

}  // namespace firn::iceberg
