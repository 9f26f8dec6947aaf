#include "firn/iceberg/serde/json_value.h"

#include <limits>
#include <utility>

namespace firn::iceberg::serde {
namespace {

constexpr int kNestingMax = 128;

const Json kMissing;
const Json kNoElements = Json::array();

/// Brackets outside of strings; the parser itself has no limit.
bool IsNestedTooDeeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kNestingMax) return true;
  }
  return false;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (IsNestedTooDeeply(text)) {
    return Error(ErrorKind::kCorruption, "JSON nested deeper than {} levels",
                 kNestingMax);
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // The parser reads one byte more than there are to find the end.
    if (error.byte > text.size()) {
      return Error(ErrorKind::kCorruption, "not JSON: cut off after {} bytes",
                   text.size());
    }
    return Error(ErrorKind::kCorruption, "not JSON: wrong from byte {} on", error.byte);
  } catch (const Json::exception&) {
    return Error(ErrorKind::kCorruption, "not JSON: a number is out of range");
  }
}

Result<std::string> DumpJson(const Json& json) {
  try {
    return json.dump();
  } catch (const Json::exception& exception) {
    return InvalidError("cannot be written as JSON: {}", exception.what());
  }
}

void AddUnknown(const types::UnknownFields& unknown, Json& object) {
  for (const auto& [name, text] : unknown) {
    Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    FIRN_CHECK(!value.is_discarded(), "kept field '{}' is not JSON: {}", name, text);
    object[name] = std::move(value);
  }
}

ObjectReader::ObjectReader(const Json& json, std::string path, ParseOutcome& outcome)
    : json_(json), path_(std::move(path)), outcome_(outcome) {
  if (json_.is_object()) return;
  outcome_.Fail(Error(ErrorKind::kCorruption, "{}: expected an object",
                      path_.empty() ? "document" : path_));
}

const Json* ObjectReader::Find(std::string_view name) {
  asked_.emplace(name);
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(name);
  if (found == json_.end() || found->is_null()) return nullptr;
  return &*found;
}

bool ObjectReader::Has(std::string_view name) const {
  return json_.is_object() && json_.contains(name);
}

const Json& ObjectReader::Get(std::string_view name) {
  if (const Json* found = Find(name)) return *found;
  outcome_.Fail(Error(ErrorKind::kCorruption, "{}: {}", PathOf(name),
                      Has(name) ? "null, where a value must be" : "missing"));
  return kMissing;
}

const Json& ObjectReader::Array(std::string_view name) {
  const Json* found = Find(name);
  if (found == nullptr) return kNoElements;
  if (found->is_array()) return *found;
  WrongType(name, "an array");
  return kNoElements;
}

std::int64_t ObjectReader::Integer(const Json& json, std::string_view name,
                                   std::int64_t min, std::int64_t max) {
  const bool fits =
      json.is_number_integer() &&
      !(json.is_number_unsigned() &&
        json.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (fits) {
    const auto value = json.get<std::int64_t>();
    if (min <= value && value <= max) return value;
  }
  WrongType(name, fmt::format("an integer from {} to {}", min, max));
  return 0;
}

std::int64_t ObjectReader::Long(std::string_view name) {
  const Json& json = Get(name);
  if (json.is_null()) return 0;
  using Limits = std::numeric_limits<std::int64_t>;
  return Integer(json, name, Limits::min(), Limits::max());
}

std::int32_t ObjectReader::Int(std::string_view name) {
  const Json& json = Get(name);
  if (json.is_null()) return 0;
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(Integer(json, name, Limits::min(), Limits::max()));
}

bool ObjectReader::Bool(std::string_view name) {
  const Json& json = Get(name);
  if (json.is_boolean()) return json.get<bool>();
  WrongType(name, "true or false");
  return false;
}

std::string ObjectReader::String(std::string_view name) {
  const Json& json = Get(name);
  if (json.is_string()) return json.get<std::string>();
  WrongType(name, "a string");
  return {};
}

std::optional<std::int64_t> ObjectReader::OptionalLong(std::string_view name) {
  if (Find(name) == nullptr) return std::nullopt;
  return Long(name);
}

std::optional<std::int32_t> ObjectReader::OptionalInt(std::string_view name) {
  if (Find(name) == nullptr) return std::nullopt;
  return Int(name);
}

std::string ObjectReader::OptionalString(std::string_view name) {
  return Find(name) == nullptr ? std::string() : String(name);
}

std::vector<std::int32_t> ObjectReader::IntList(std::string_view name) {
  using Limits = std::numeric_limits<std::int32_t>;
  std::vector<std::int32_t> values;
  for (const Json& element : Array(name)) {
    values.push_back(
        static_cast<std::int32_t>(Integer(element, name, Limits::min(), Limits::max())));
  }
  return values;
}

std::vector<std::string> ObjectReader::StringList(std::string_view name) {
  std::vector<std::string> values;
  for (const Json& element : Array(name)) {
    if (!element.is_string()) {
      WrongType(name, "an array of strings");
      return {};
    }
    values.push_back(element.get<std::string>());
  }
  return values;
}

std::map<std::string, std::string> ObjectReader::StringMap(std::string_view name) {
  const Json* found = Find(name);
  if (found == nullptr) return {};
  std::map<std::string, std::string> values;
  bool only_strings = found->is_object();
  if (only_strings) {
    for (const auto& [key, value] : found->items()) {
      only_strings = only_strings && value.is_string();
      if (value.is_string()) values.emplace(key, value.get<std::string>());
    }
  }
  if (!only_strings) WrongType(name, "an object of strings");
  return values;
}

types::UnknownFields ObjectReader::Unknown() const {
  types::UnknownFields unknown;
  if (!json_.is_object()) return unknown;
  for (const auto& [name, value] : json_.items()) {
    if (!asked_.contains(name)) unknown.emplace(name, value.dump());
  }
  return unknown;
}

std::string ObjectReader::PathOf(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::string ObjectReader::PathOf(std::string_view name, std::size_t index) const {
  return fmt::format("{}[{}]", PathOf(name), index);
}

void ObjectReader::WrongType(std::string_view name, std::string_view expected) {
  outcome_.Fail(Error(ErrorKind::kCorruption, "{}: expected {}", PathOf(name), expected));
}

}  // namespace firn::iceberg::serde
