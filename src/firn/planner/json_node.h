#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/core/status.h"

namespace firn::planner {

/// A value of a JSON document and the place where it stands, which every error names.
///
/// The document must outlive the node.
class JsonNode {
 public:
  JsonNode(const nlohmann::ordered_json& json, std::string place)
      : json_(&json), place_(std::move(place)) {}

  const nlohmann::ordered_json& json() const { return *json_; }
  const std::string& place() const { return place_; }
  bool is_null() const;

  /// Invalid if this is no object, or has no such member.
  Result<JsonNode> Member(const char* name) const;
  /// Nothing if there is no such member. REQUIRES: this is an object.
  std::optional<JsonNode> FindMember(const char* name) const;
  Result<std::vector<std::string>> MemberNames() const;
  Result<std::vector<JsonNode>> Elements() const;

  /// At least `low` and at most `high`.
  Result<std::int64_t> Integer(std::int64_t low, std::int64_t high) const;
  Result<double> Number() const;
  Result<std::string> Text() const;

  /// Invalid: "<place>: <what>".
  Status Wrong(const std::string& what) const;

 private:
  const nlohmann::ordered_json* json_;
  std::string place_;
};

/// Invalid, with line and column, if `text` is not JSON.
Result<nlohmann::ordered_json> ParseJson(std::string_view text);

}  // namespace firn::planner
