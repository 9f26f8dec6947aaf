#include "firn/planner/json_node.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

namespace firn::planner {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

bool JsonNode::is_null() const { return json_->is_null(); }

Result<JsonNode> JsonNode::Member(const char* name) const {
  if (!json_->is_object()) return Wrong("must be an object");
  std::optional<JsonNode> member = FindMember(name);
  const std::string dot = place_.empty() ? "" : ".";
  if (!member) return InvalidError("{}{}{}: missing", place_, dot, name);
  return *member;
}

std::optional<JsonNode> JsonNode::FindMember(const char* name) const {
  const auto member = json_->find(name);
  if (member == json_->end()) return std::nullopt;
  return JsonNode(*member, place_.empty() ? name : place_ + "." + name);
}

Result<std::vector<std::string>> JsonNode::MemberNames() const {
  if (!json_->is_object()) return Wrong("must be an object");
  std::vector<std::string> names;
  for (const auto& [name, value] : json_->items()) names.push_back(name);
  return names;
}

Result<std::vector<JsonNode>> JsonNode::Elements() const {
  if (!json_->is_array()) return Wrong("must be an array");
  std::vector<JsonNode> elements;
  for (const Json& element : *json_) {
    elements.emplace_back(element, fmt::format("{}[{}]", place_, elements.size()));
  }
  return elements;
}

Result<std::int64_t> JsonNode::Integer(std::int64_t low, std::int64_t high) const {
  const bool is_integer = json_->is_number_integer();
  const bool is_too_large =
      json_->is_number_unsigned() &&
      json_->get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (!is_integer || is_too_large || json_->get<std::int64_t>() < low) {
    return Wrong(fmt::format("must be an integer from {} to {}", low, high));
  }
  return json_->get<std::int64_t>();
}

Result<double> JsonNode::Number() const {
  if (!json_->is_number()) return Wrong("must be a number");
  return json_->get<double>();
}

Result<std::string> JsonNode::Text() const {
  if (!json_->is_string()) return Wrong("must be text");
  return json_->get<std::string>();
}

Status JsonNode::Wrong(const std::string& what) const {
  return InvalidError("{}: {}", place_.empty() ? "the document" : place_, what);
}

Result<Json> ParseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view read = text.substr(0, error.byte);
    const auto line = 1 + std::ranges::count(read, '\n');
    const std::size_t line_end = read.rfind('\n');
    const std::size_t column =
        line_end == std::string_view::npos ? read.size() : read.size() - line_end - 1;
    return InvalidError("not a JSON document: line {}, column {}", line, column);
  } catch (const Json::out_of_range&) {
    return InvalidError("a number is beyond what a double holds");
  }
}

}  // namespace firn::planner
