#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn::iceberg::serde {

/// Arrays of a JSON document's top level, as the text of their elements.
struct CutLists {
  /// The document with these arrays empty.
  std::string rest;
  /// One for each name asked for, slices of the document; empty for one that is missing
  /// or no array.
  std::vector<std::vector<std::string_view>> elements;
};

/// Cuts the arrays `names` out of `document`, which is looked through without being
/// parsed: it is JSON exactly if the rest and all elements are, and the elements are
/// what the array holds then. Nothing for what is beyond such a look: no object, a name
/// that is there twice, names with escapes.
std::optional<CutLists> CutTopLevelLists(std::string_view document,
                                         const std::vector<std::string_view>& names);

/// A member of a JSON document's top level, as text.
struct CutMember {
  /// The document with null in its place.
  std::string rest;
  /// A slice of the document.
  std::string_view value;
};

/// Cuts one member out; terms as of CutTopLevelLists. Nothing if it is missing.
std::optional<CutMember> CutTopLevelMember(std::string_view document,
                                           std::string_view name);

}  // namespace firn::iceberg::serde
